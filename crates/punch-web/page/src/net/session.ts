// Who this browser is to the server. The one-time token comes in the fragment of the address, which no log and no Referer
// contains; it is exchanged once. On loopback the answer is a bearer token, kept for this tab only, because cookies ignore
// ports and another server on the same host would get them. A new tab asks the open ones for it.

const KEY = "punch.token";
const PATIENCE_MS = 250;

let bearer: string | null = null;

export function authorization(): Record<string, string> {
  return bearer === null ? {} : { Authorization: `Bearer ${bearer}` };
}

export function keepToken(token: string | null): void {
  bearer = token;
  if (token === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, token);
}

/** Takes the one-time token out of the address, so that it is in no history and no bookmark. */
export function takeFragmentToken(): string | null {
  const found = /^#t=(.+)$/.exec(location.hash);
  if (!found) return null;
  history.replaceState(null, "", location.pathname + location.search);
  return found[1] ?? null;
}

interface SessionMessage {
  ask?: true;
  token?: string;
}

let channel: BroadcastChannel | null = null;

/** Finds the token of this tab, or of another tab of the same origin. A tab without one gets it as soon as another logs in. */
export async function findToken(loggedIn: () => void): Promise<void> {
  bearer = sessionStorage.getItem(KEY);
  channel ??= new BroadcastChannel("punch-session");
  const found = bearer === null ? await askOthers(channel) : null;
  if (found !== null) keepToken(found);
  channel.onmessage = (message: MessageEvent<SessionMessage>) => {
    const { ask, token } = message.data;
    if (ask && bearer !== null) channel?.postMessage({ token: bearer });
    if (typeof token === "string" && bearer === null) {
      keepToken(token);
      loggedIn();
    }
  };
  if (bearer !== null) channel.postMessage({ token: bearer });
}

function askOthers(others: BroadcastChannel): Promise<string | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), PATIENCE_MS);
    others.onmessage = (message: MessageEvent<SessionMessage>) => {
      if (typeof message.data.token !== "string") return;
      clearTimeout(timer);
      resolve(message.data.token);
    };
    others.postMessage({ ask: true });
  });
}
