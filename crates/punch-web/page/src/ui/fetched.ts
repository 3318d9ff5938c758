// Answers that a page asks for besides the picture, read again when what they depend on changes.
import { useEffect, useRef, useState } from "preact/hooks";
import { asProblem, get as read, type Problem } from "../net/http.ts";

export interface Fetched<T> {
  value: T | null;
  problem: Problem | null;
}

const PAUSE_MS = 150;

/** The answer of a path; `null` asks nothing. The last answer stays until the next one is there. */
export function useFetched<T>(path: string | null, version: unknown): Fetched<T> {
  const [fetched, setFetched] = useState<Fetched<T> & { path: string | null }>({ value: null, problem: null, path: null });
  const first = useRef(true);
  useEffect(() => {
    if (path === null) return;
    const own = new AbortController();
    const ask = (): void => {
      read<T>(path, own.signal).then(
        (value) => setFetched({ value, problem: null, path }),
        (cause: unknown) => {
          if (own.signal.aborted) return;
          setFetched((last) => ({ value: last.path === path ? last.value : null, problem: asProblem(cause), path }));
        },
      );
    };
    // Many changes in a row ask once.
    const timer = setTimeout(ask, first.current ? 0 : PAUSE_MS);
    first.current = false;
    return () => {
      clearTimeout(timer);
      own.abort();
    };
  }, [path, version]);
  return path === null ? { value: null, problem: null } : fetched;
}
