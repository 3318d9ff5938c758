// The page's entry point.
import { render } from "preact";
import { start } from "./model/actions.ts";
import { App } from "./ui/app.tsx";
import { watchFocus } from "./ui/cursor.ts";
import { listenForKeys } from "./ui/keys.ts";

export * from "./shared.ts";

const root = document.getElementById("app");
if (root !== null) {
  render(<App />, root);
  watchFocus();
  listenForKeys();
  void start();
}
