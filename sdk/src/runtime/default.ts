import type { Runtime } from "./runtime.ts";
import { streamGzip, synchronousContext } from "./shared.ts";

/** Browsers and whatever else has the web's own interfaces. */
export const runtime: Runtime = {
  createContext: synchronousContext,
  gzip: streamGzip,
  isPretty: () => true,
  settings: () => ({}),
  onIdle: () => () => {},
};
