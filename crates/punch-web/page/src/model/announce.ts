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

export function announceInbox(before: Picture | null, after: Picture): void {
  if (before === null || before.plan !== after.plan || before.inbox === after.inbox) return;
  const known = new Set(before.inbox.map(inboxKey));
  for (const item of after.inbox) {
    if (known.has(inboxKey(item))) continue;
    announce(`${item.todo ?? "Something"} needs you: ${KINDS[item.kind] ?? item.kind}. ${item.text}`);
  }
}
