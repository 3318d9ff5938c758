// The stream of changes of one plan. All tabs share one connection: the tab that holds a Web Lock reads the stream and
// passes every event on over a BroadcastChannel. Browsers allow six connections per server, so a seventh tab with a stream
// of its own would never load.
import { authorization } from "./session.ts";
import { BASE, planPath, Problem } from "./http.ts";
import { EventParser, type ServerEvent } from "./sse.ts";

export type Connection = "connecting" | "live" | "trying";

export interface LiveHandlers {
  /** The revision that the tab's picture has. */
  revision(): number;
  /** Resolves when the event is in the picture: after a reset the stream is opened again from there. */
  event(event: string, data: unknown): Promise<void>;
  connection(state: Connection): void;
  /** The session ended, or the plan is gone. */
  refused(problem: Problem): void;
}

type Relay = { kind: "event"; event: string; data: unknown } | { kind: "state"; state: Connection } | { kind: "hello" };

/** The server sends a sign of life every 15 seconds. */
const SILENCE_MS = 40_000;
const FIRST_WAIT_MS = 300;
const LONGEST_WAIT_MS = 10_000;

export class Live {
  private readonly stopped = new AbortController();
  private readonly channel: BroadcastChannel;
  private readonly name: string;
  private state: Connection = "connecting";
  private leads = false;
  private lastSign = Date.now();
  private watchdog = 0;
  private wake: (() => void) | null = null;

  constructor(private readonly plan: string, private readonly handlers: LiveHandlers) {
    this.name = `punch-live:${plan}`;
    this.channel = new BroadcastChannel(this.name);
  }

  start(): void {
    this.channel.onmessage = (message: MessageEvent<Relay>) => this.relayed(message.data);
    this.channel.postMessage({ kind: "hello" } satisfies Relay);
    addEventListener("online", this.retryNow);
    this.watchdog = window.setInterval(() => this.watch(), 5_000);
    void this.lead(false);
  }

  stop(): void {
    this.stopped.abort();
    this.wake?.();
    removeEventListener("online", this.retryNow);
    clearInterval(this.watchdog);
    this.channel.close();
  }

  /** Tries again at once instead of after the pause. */
  readonly retryNow = (): void => this.wake?.();

  private relayed(message: Relay): void {
    if (message.kind === "hello") {
      if (this.leads) this.channel.postMessage({ kind: "state", state: this.state } satisfies Relay);
      return;
    }
    this.lastSign = Date.now();
    if (this.leads) return;
    if (message.kind === "state") this.handlers.connection(message.state);
    else void this.handlers.event(message.event, message.data);
  }

  /** A leader that is frozen holds its lock and says nothing: another tab takes over. */
  private watch(): void {
    if (!this.leads && Date.now() - this.lastSign > 2 * SILENCE_MS) {
      this.lastSign = Date.now();
      void this.lead(true);
    }
  }

  private async lead(steal: boolean): Promise<void> {
    const work = async (): Promise<void> => {
      this.leads = true;
      try {
        await this.follow();
      } finally {
        this.leads = false;
      }
    };
    if (!("locks" in navigator)) return work();
    try {
      const options: LockOptions = steal ? { steal } : { signal: this.stopped.signal };
      await navigator.locks.request(this.name, options, work);
    } catch {
      // Stopped, or another tab has taken the lock: it leads now.
      this.leads = false;
      if (!this.stopped.signal.aborted) void this.lead(false);
    }
  }

  private tell(state: Connection): void {
    this.state = state;
    this.handlers.connection(state);
    this.relay({ kind: "state", state });
  }

  private relay(message: Relay): void {
    if (!this.stopped.signal.aborted) this.channel.postMessage(message);
  }

  private async follow(): Promise<void> {
    let wait = FIRST_WAIT_MS;
    while (!this.stopped.signal.aborted && this.leads) {
      try {
        if ((await this.read(() => (wait = FIRST_WAIT_MS))) === "reset") continue;
      } catch (cause) {
        if (this.stopped.signal.aborted) return;
        if (cause instanceof Problem && [401, 403, 404].includes(cause.status)) return this.handlers.refused(cause);
      }
      if (this.stopped.signal.aborted) return;
      this.tell("trying");
      await this.pause(wait * (0.75 + Math.random() / 2));
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    }
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Reads one connection to its end, or until the server says that the picture has to be read again. */
  private async read(connected: () => void): Promise<"ended" | "reset"> {
    const cut = new AbortController();
    const signal = AbortSignal.any([cut.signal, this.stopped.signal]);
    let silence = setTimeout(() => cut.abort(), SILENCE_MS);
    try {
      const path = `${BASE}${planPath(this.plan, "events")}?after=${this.handlers.revision()}`;
      const headers = { ...authorization(), Accept: "text/event-stream" };
      const answer = await fetch(path, { headers, signal, cache: "no-store", credentials: "same-origin" });
      if (!answer.ok || answer.body === null) throw new Problem("no stream", answer.status, "stream", null);
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      const parser = new EventParser();
      for (;;) {
        const { done, value } = await reader.read();
        if (done || !this.leads) return "ended";
        clearTimeout(silence);
        silence = setTimeout(() => cut.abort(), SILENCE_MS);
        connected();
        if (this.state !== "live") this.tell("live");
        const events = parser.push(value);
        if (events.length === 0) this.relay({ kind: "state", state: "live" });
        for (const event of events) {
          const applied = this.handle(event);
          if (event.event !== "reset") continue;
          await applied;
          return "reset";
        }
      }
    } finally {
      clearTimeout(silence);
      cut.abort();
    }
  }

  private handle(event: ServerEvent): Promise<void> {
    let data: unknown;
    try {
      data = JSON.parse(event.data);
    } catch {
      return Promise.resolve();
    }
    this.relay({ kind: "event", event: event.event, data });
    return this.handlers.event(event.event, data);
  }
}
