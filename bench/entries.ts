import { randomBytes } from "node:crypto";

/** An entry as an application would send it: 330 bytes of JSON, about 25 of them random, so that entries differ. */
export interface BenchEntry {
  timestamp: string;
  level: string;
  category: string;
  type: string;
  message: string;
  session: string;
  traceId: string;
  data: Record<string, string | number>;
}

/** A sixth of all entries are errors. */
const LEVELS = ["debug", "info", "info", "info", "warn", "error"];

/** @param index determines everything except the random ids; the level is `levelOf(index)` */
export function entryAt(index: number, timestamp: number): BenchEntry {
  const order = (index * 7919) % 100_000;
  const durationMs = index % 400;
  return {
    timestamp: new Date(timestamp).toISOString(),
    level: levelOf(index),
    category: "http",
    type: "request",
    message: `GET /api/v1/orders/${order} completed with status 200 in ${durationMs} ms`,
    session: `ses_${randomBytes(9).toString("hex")}`,
    traceId: randomBytes(16).toString("hex"),
    data: { userId: index % 5000, route: "/orders/:id", status: 200, durationMs, region: "eu" },
  };
}

export function levelOf(index: number): string {
  return LEVELS[index % LEVELS.length] ?? "info";
}

/** Current entries: a JSON array, or lines if there are more than an array may have. */
export function bodyOf(entries: number, firstIndex: number): Buffer {
  const now = Date.now();
  const list = Array.from({ length: entries }, (_, at) => entryAt(firstIndex + at, now - ((firstIndex + at) % 1000)));
  return Buffer.from(entries > 1000 ? list.map((entry) => JSON.stringify(entry)).join("\n") : JSON.stringify(list));
}
