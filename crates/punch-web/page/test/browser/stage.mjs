// A project with a store of its own, `punch serve` in a real terminal, and a browser that is logged in to it.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PUNCH = process.env.PUNCH ?? fail("set PUNCH to the binary");
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
/** Longer than anything that is not broken, on a busy machine. */
export const PATIENCE_MS = 30_000;

export const DESK = { width: 1360, height: 860 };
export const PHONE = { width: 375, height: 780 };

/**
 * An agent in Claude's form: the one that the terminal board is tested with. A todo that says `ask` makes it ask first; those
 * that `QUICK` names take a second; `COST` and `TOKENS` are what each todo takes. `SAY` and `COMMAND`, escaped for JSON, are what
 * it says and asks.
 */
const AGENT = new URL("../../../../../xtask/src/boards/agent.sh", import.meta.url).pathname;

/** What `punch assign` starts instead of Claude Code. */
const CLAUDE = `#!/bin/sh
echo the agent speaks
echo "$2" > "$TRACES/unfinished" && mv "$TRACES/unfinished" "$TRACES/assigned"
`;

function fail(why) {
  throw new Error(why);
}

export class Stage {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), "punch-page-"));
    this.name = `punch-page-${process.pid}-${Math.random().toString(36).slice(2)}`;
    this.servers = 0;
    this.problems = [];
    this.runs = [];
    for (const name of ["project", "home", "traces", "bin"]) mkdirSync(join(this.folder, name));
    const at = (name) => join(this.folder, name);
    // Nothing of what surrounds the tests: marks of an agent above would make every answer be refused.
    this.environment = {
      PATH: `${at("bin")}:${process.env.PATH}`, HOME: at("home"), XDG_STATE_HOME: at("home/state"), XDG_CONFIG_HOME: at("home/config"), LANG: "C.UTF-8",
      PUNCH_STORE: at("project/.punch"), PUNCH, TRACES: at("traces"), PUNCH_RUN_BACKOFF: "10ms",
    };
    writeFileSync(at("bin/claude"), CLAUDE, { mode: 0o755 });
    this.punch("init", "--store", at("project/.punch"));
  }

  /** Runs `punch` in the project to its end. */
  punch(...words) {
    return execFileSync(PUNCH, words, { cwd: join(this.folder, "project"), env: this.environment, encoding: "utf8", stdio: ["pipe", "pipe", "pipe"] });
  }

  /** Runs `punch` with text on its input. */
  punchWith(input, ...words) {
    return execFileSync(PUNCH, words, { cwd: join(this.folder, "project"), env: this.environment, encoding: "utf8", input });
  }

  tmux(...words) {
    return execFileSync("tmux", ["-L", this.socket, ...words], { encoding: "utf8", env: this.environment, stdio: ["ignore", "pipe", "ignore"] });
  }

  /** Starts the server in a terminal: only a link that was printed there may answer questions. */
  async serve(port = 0) {
    const variables = Object.entries(this.environment).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
    const line = `exec "$PUNCH" serve --port ${port}`;
    // A terminal of its own: the one of a server that was stopped may still be ending.
    this.servers += 1;
    this.socket = `${this.name}-${this.servers}`;
    this.tmux("-f", "/dev/null", "new-session", "-d", "-x", "250", "-y", "50", "-c", join(this.folder, "project"), ...variables, "sh", "-c", line);
    this.link = await until(() => /https?:\/\/[^\s]+#t=[^\s]+/.exec(this.tmux("capture-pane", "-p", "-J"))?.[0], "the server prints no link");
    this.address = this.link.replace(/\/#t=.*$/, "");
    return this.link;
  }

  /** Ends the server as a crash would. */
  stopServer() {
    this.tmux("kill-server");
  }

  async browser() {
    this.chromium = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
    this.context = await this.chromium.newContext({ viewport: DESK, colorScheme: "light", permissions: ["clipboard-read", "clipboard-write"] });
    this.first = await this.page();
    await this.first.goto(this.link);
    await live(this.first);
  }

  /** A new tab. What goes wrong in it is remembered and fails the test. */
  async page() {
    const page = await this.context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    page.on("pageerror", (error) => this.problems.push(error.message));
    page.on("console", (message) => {
      const text = message.text();
      // Answers that refuse something are part of the tests; the browser reports each as an error.
      if (message.type() === "error" && !/Failed to load resource|net::ERR/.test(text)) this.problems.push(text);
    });
    return page;
  }

  /** A new tab at an address of the board. It gets its session from the first one. */
  async open(path, size = DESK) {
    const page = await this.page();
    await page.setViewportSize(size);
    await page.goto(this.address + path);
    await live(page);
    return page;
  }

  /** Starts `punch run` with the scripted agent, more options, and variables for the agent. */
  run(agents, seconds, options = [], variables = {}) {
    const agent = `claude:sh ${AGENT}`;
    const child = spawn(PUNCH, ["run", "--agent", agent, "--agents", String(agents), ...options], {
      cwd: join(this.folder, "project"), env: { ...this.environment, WORK: String(seconds), ...variables }, stdio: "ignore",
    });
    this.runs.push(child);
    return new Promise((resolve) => child.on("exit", resolve));
  }

  /** A report of a session in Claude's form, as its hooks make it. */
  report(session, event, fields) {
    const body = { session_id: session, hook_event_name: event, cwd: join(this.folder, "project"), ...fields };
    return this.punchWith(JSON.stringify(body), "hook", "--agent", "claude", event);
  }

  path(name) {
    return join(this.folder, name);
  }

  trace(name) {
    return readFileSync(this.path(`traces/${name}`), "utf8");
  }

  /** Ends runs at once. A signal alone lets agents finish what they work on, and a run that is waited for keeps node alive. */
  async stopRuns() {
    const running = this.runs.filter((run) => run.exitCode === null && run.signalCode === null);
    if (running.length === 0) return;
    const ended = Promise.all(running.map((run) => new Promise((resolve) => run.on("exit", resolve))));
    try {
      this.punch("run", "stop");
    } catch {
      running.forEach((run) => run.kill());
    }
    await ended;
  }

  async close() {
    await this.chromium?.close();
    await this.stopRuns();
    try {
      this.stopServer();
    } catch {
      // It has ended already.
    }
    try {
      rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    } catch {
      // An agent that is just ending still writes there.
    }
  }
}

/** A stage with todos, a server and a browser. */
export async function stageWith(...commands) {
  const stage = new Stage();
  for (const words of commands) stage.punch(...words);
  await stage.serve();
  await stage.browser();
  return stage;
}

/** Waits until the page has a picture and follows the stream. */
export async function live(page) {
  await page.locator(".live .dot.on").waitFor();
}

/** Waits until something is there. */
export async function until(find, otherwise) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = await find();
    if (found) return found;
    if (Date.now() > end) throw new Error(otherwise);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

/** What axe calls serious or critical. */
export async function findings(page) {
  // The page's policy forbids script that is not its own; the debugger may run it all the same.
  await page.evaluate(AXE);
  // A dialog fades in, and its text has too little contrast until it is there.
  await page.evaluate(() => Promise.all(document.getAnimations().map((one) => one.finished)));
  const result = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }));
  return result.violations.filter((one) => ["serious", "critical"].includes(one.impact)).map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 160)).slice(0, 3).join(" | ")}`);
}

/** A plan that looks like one: phases, dependencies, a hold, labels, notes. */
export const SCENE = [
  ["add", "Choose the schema", "--phase", "Store"],
  ["add", "Migrate the schema", "--phase", "Store", "--needs", "T-1", "--priority", "1"],
  ["add", "Backfill rows of old plans", "--phase", "Store", "--needs", "T-2"],
  ["add", "Drop the old column", "--phase", "Store", "--needs", "T-3"],
  ["add", "Better parser errors", "--phase", "Parser"],
  ["add", "Fuzz the reader", "--phase", "Parser", "--needs", "T-5", "--priority", "2"],
  ["add", "Write docs for hooks", "--phase", "Docs"],
  ["add", "Choose a license", "--phase", "Docs"],
  ["add", "Release notes", "--phase", "Docs", "--needs", "T-8", "--needs", "T-4"],
  ["done", "T-1"],
  ["hold", "T-8", "MIT or Apache?"],
  ["note", "T-2", "Keep the old column for now, **all** readers need it."],
];
