import type { LogLevel } from "./types.ts";

/** By severity: the index is the severity. */
export const LEVELS: readonly LogLevel[] = ["trace", "debug", "log", "info", "warn", "error", "fatal"];

/** The types of each category the service checks; the first is the default. */
export const CATEGORY_TYPES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  `ai:llm interaction step action response summary embedding tool-call
http:request response redirect
system:startup shutdown error debug info warn
database:query transaction migration slow-query connection
auth:login logout token-refresh permission-denied registration
queue:enqueue dequeue process retry dead-letter
cache:hit miss set evict invalidate`
    .split("\n")
    .map((line) => {
      const [category = "", types = ""] = line.split(":");
      return [category, types.split(" ")];
    }),
);
