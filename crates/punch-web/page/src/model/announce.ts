// The one polite live region. It speaks only of what needs you, and of what your own keys did.
import type { Picture } from "./picture.ts";

let region: HTMLElement | null = null;
let pending: string[] = [];
let timer = 0;

export function setRegion(element: HTMLElement | null): void {
  region = element;
}

/** Says something to screen readers; what comes in quick succession is said together. */
export function announce(text: string): void {
  pending.push(text);
  clearTimeout(timer);
  timer = window.setTimeout(() => {
    if (region !== null) region.textContent = pending.slice(-5).join(". ");
    pending = [];
  }, 150);
}

/** Why something needs you, in words. */
export const KINDS: Record<string, string> = {
  question: "asks", hold: "on hold for you", conflict: "conflict", failed: "failed", stuck: "stuck", approval: "needs approval",
  budget: "budget", quiet: "quiet", finished: "finished",
};

export function inboxKey(item: { kind: string; todo?: string | null; question?: number; since: number }): string {
  return item.question !== undefined ? `question/${item.question}` : `${item.kind}/${item.todo ?? item.since}`;
}

/** Notifications that are shown, by what they are about. */
const shown = new Map<string, Notification>();

/** Whether you can still be asked to allow notifications. */
export function canNotify(): boolean {
  return "Notification" in window && Notification.permission === "default";
}

export function announceInbox(before: Picture | null, after: Picture): void {
  if (before === null || before.plan !== after.plan || before.inbox === after.inbox) return;
  const known = new Set(before.inbox.map(inboxKey));
  const now = new Map(after.inbox.map((item) => [inboxKey(item), item]));
  for (const [key, item] of now) {
    if (known.has(key)) continue;
    const title = `${item.todo ?? "Something"} needs you: ${KINDS[item.kind] ?? item.kind}`;
    announce(`${title}. ${item.text}`);
    notify(key, title, item.text);
  }
  // A notification goes away with its reason.
  for (const [key, one] of shown) {
    if (now.has(key)) continue;
    one.close();
    shown.delete(key);
  }
}

/** Shows a notification while the page is in the background. All tabs show the same one: they give it the same tag. */
function notify(key: string, title: string, body: string): void {
  if (!("Notification" in window) || Notification.permission !== "granted" || !document.hidden) return;
  const made = new Notification(title, { body, tag: key });
  made.onclick = () => {
    focus();
    made.close();
  };
  shown.set(key, made);
}
