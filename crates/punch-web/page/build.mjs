// Builds the page into `dist/` under stable names, or into the folder after `--out`. `--tests FOLDER` bundles the unit
// tests instead. The same sources give the same bytes on every machine: nothing here depends on time or place.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { minify } from "terser";

const here = dirname(fileURLToPath(import.meta.url));
const argument = (name) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
};

/** What the bundle is not made of. Changing a test needs no new bundle. */
const OTHERS = ["dist", "node_modules", "test"];

function files(path, without = []) {
  const entries = readdirSync(path, { withFileTypes: true }).filter((entry) => !without.includes(entry.name));
  return entries.flatMap((entry) => (entry.isDirectory() ? files(join(path, entry.name)) : [join(path, entry.name)]));
}

function sources() {
  const names = files(here, OTHERS).map((file) => relative(here, file).split(sep).join("/")).sort();
  const hash = (name) => createHash("sha256").update(readFileSync(join(here, name))).digest("hex");
  return names.map((name) => `${hash(name)}  ${name}\n`).join("");
}

const common = {
  absWorkingDir: here,
  bundle: true,
  format: "esm",
  target: "es2022",
  // A call per element is smaller than the automatic runtime; types come from the latter, see tsconfig.json.
  tsconfigRaw: { compilerOptions: { jsx: "react", jsxFactory: "h", jsxFragmentFactory: "Fragment" } },
  inject: ["src/elements.ts"],
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
};

/** Pages whose script and style sheet are loaded when they are first opened. */
const ON_DEMAND = ["board", "graph", "run"];

/** Pages, and a part of one that few projects need, that have a script and no style sheet. */
const PARTS = ["log", "todo", "workers"];

/** Leaves what is loaded on demand out of the script that loads it. */
const apart = {
  name: "apart",
  setup: (build) =>
    build.onResolve({ filter: /\.tsx$/ }, ({ kind, path }) =>
      kind === "dynamic-import" ? { path: path.replace(/\.tsx$/, ".js"), external: true } : undefined),
};

/** What such a page shares with the others comes from the script that loaded it. */
const shared = {
  name: "shared",
  setup: (build) => build.onResolve({ filter: /shared\.ts$|^preact/ }, () => ({ path: "./app.js", external: true })),
};

async function script(out, name, source, plugins) {
  const built = await build({ ...common, entryPoints: { [name]: source }, outdir: out, minify: true, write: false, plugins });
  // Names that are chosen by how often letters occur compress better, and calls better than what they would be replaced with.
  const compress = { passes: 3, inline: 0, toplevel: true, unsafe_arrows: true, keep_fargs: false, pure_getters: true, unsafe: true };
  const small = await minify(built.outputFiles[0].text, { module: true, ecma: 2022, compress, mangle: { toplevel: true } });
  writeFileSync(join(out, `${name}.js`), `${small.code}\n`);
}

async function page(out) {
  mkdirSync(out, { recursive: true });
  await script(out, "app", "src/main.tsx", [apart]);
  for (const name of [...ON_DEMAND, ...PARTS]) await script(out, name, `src/ui/${name}.tsx`, [apart, shared]);
  const styles = Object.fromEntries(["app", ...ON_DEMAND].map((name) => [name, `style/${name}.css`]));
  await build({ ...common, entryPoints: styles, outdir: out, minify: true });
  writeFileSync(join(out, "index.html"), readFileSync(join(here, "index.html")));
  writeFileSync(join(out, "sources.sha256"), sources());
}

async function tests(out) {
  const entryPoints = files(join(here, "test/unit")).filter((file) => /\.test\.tsx?$/.test(file));
  await build({ ...common, entryPoints, outdir: out, platform: "node", outExtension: { ".js": ".mjs" } });
}

const testFolder = argument("--tests");
await (testFolder ? tests(testFolder) : page(argument("--out") ?? join(here, "dist")));
