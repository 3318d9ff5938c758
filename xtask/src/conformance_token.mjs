// Loaded before the conformance suite, which has no option for headers: every request to the server under test carries its
// token.
import { getGlobalDispatcher, setGlobalDispatcher } from "undici";

const origin = new URL(process.env.PUNCH_URL).origin;
const authorization = `Bearer ${process.env.PUNCH_TOKEN}`;

const withToken = (headers) => {
  if (Array.isArray(headers)) return [...headers, "authorization", authorization];
  if (headers && typeof headers[Symbol.iterator] === "function") return { ...Object.fromEntries(headers), authorization };
  return { ...headers, authorization };
};

setGlobalDispatcher(
  getGlobalDispatcher().compose((dispatch) => (options, handler) => {
    const ours = new URL(options.origin).origin === origin;
    return dispatch(ours ? { ...options, headers: withToken(options.headers) } : options, handler);
  }),
);
