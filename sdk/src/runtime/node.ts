import { AsyncLocalStorage } from "node:async_hooks";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { visible } from "../terminal.ts";
import { outcomeOf } from "../transports/answers.ts";
import { createStream } from "../transports/stream.ts";
import { settingsOf } from "./environment.ts";
import type { Runtime } from "./runtime.ts";

const idle = new Set<() => void>();
let isHooked = false;

/** The runtime of Node and Bun. */
export const runtime: Runtime = {
  createContext: () => new AsyncLocalStorage(),
  // Level 1 takes half the time of the default for 10 % more bytes, measured on log lines.
  // Promisified per call, because bundles for edge runtimes evaluate this module with stubs of Node's functions.
  gzip: (body) => promisify(gzip)(body, { level: 1 }),
  isPretty: () =>
    process.env.NODE_ENV === "development" || (process.env.NODE_ENV === undefined && process.stdout?.isTTY === true),
  visible,
  answers: async () => ({ outcomeOf }),
  createStream,
  settings: () => settingsOf(globalThis.process?.env ?? {}),
  onIdle(flush) {
    if (!isHooked) {
      isHooked = true;
      // Edge runtimes have a `process` without events.
      process.on?.("beforeExit", () => {
        for (const one of idle) one();
      });
    }
    idle.add(flush);
    return () => idle.delete(flush);
  },
};
