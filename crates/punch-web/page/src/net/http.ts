// Calls of the API. Every refusal becomes a `Problem` with the server's own words.
import type { Question } from "../model/types.ts";
import { authorization } from "./session.ts";

export const BASE = "/api/v1";
const READ_MS = 30_000;
/** A write may run the check of a todo, which takes as long as it takes. */
const WRITE_MS = 15 * 60_000;

export class Problem extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly code: string,
    readonly hint: string | null,
    readonly question: Question | null = null,
  ) {
    super(message);
  }
}

const UNREACHABLE = "The server does not answer.";

async function problemOf(answer: Response): Promise<Problem> {
  let body: Record<string, unknown> = {};
  try {
    body = (await answer.json()) as Record<string, unknown>;
  } catch {
    // Not from our server: a proxy, or a process that took the port.
  }
  const text = (name: string): string | null => (typeof body[name] === "string" ? (body[name] as string) : null);
  const message = text("message") ?? text("title") ?? `The server answered with status ${answer.status}.`;
  const question = (body["question"] ?? null) as Question | null;
  return new Problem(message, answer.status, text("code") ?? "unknown", text("hint"), question);
}

export async function request(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const limit = AbortSignal.timeout(method === "GET" ? READ_MS : WRITE_MS);
  const headers: Record<string, string> = authorization();
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer: Response;
  try {
    answer = await fetch(BASE + path, {
      method, headers, cache: "no-store", credentials: "same-origin",
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: signal ? AbortSignal.any([limit, signal]) : limit,
    });
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new Problem(UNREACHABLE, 0, "unreachable", "Is `punch serve` still running?");
  }
  if (!answer.ok) throw await problemOf(answer);
  return answer;
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await (await request("GET", path, undefined, signal)).json()) as T;
}

export async function post<T>(path: string, body: unknown): Promise<T> {
  return (await (await request("POST", path, body)).json()) as T;
}

export function planPath(plan: string, rest: string): string {
  return `/plans/${encodeURIComponent(plan)}/${rest}`;
}

export function todoPath(plan: string, id: string, rest = ""): string {
  return planPath(plan, `todos/${encodeURIComponent(id)}${rest}`);
}

export function asProblem(cause: unknown): Problem {
  return cause instanceof Problem ? cause : new Problem(String(cause), 0, "bug", null);
}
