import fc from "fast-check";
import type { LokiEntry } from "../../../src/logql/pipeline.ts";
import { parseStoredLine } from "../../../src/logs/entry.ts";
import { lokiEntryOf } from "../../../src/logs/loki/loki-entry.ts";
import { lineOf, type TestEntry, type TestRow } from "../query/store.ts";

/** Random entries whose lines have words in messages, values and names, and every kind of escape. */

export const BEGIN = Date.UTC(2026, 10, 22, 12);

const text = fc.constantFrom(
  ...[
    "connection refused",
    "Timeout after 30s",
    "timeout",
    "x",
    "",
    "C:\\temp\\new",
    'say "stop"\nnow',
    "\u0007bell tone",
  ],
  ...[
    "\u0130stanbul",
    "\u03a3\u03c2\u03c3",
    "gr\u00f6\u00dfe",
    "\ud83d\ude00 smile",
    "tab\tbed",
    "true",
    "level=error msg=done",
  ],
);
const name = fc.constantFrom(
  "status",
  "took",
  "timeout",
  "user id",
  "gr\u00f6\u00dfe",
  'od"d\nname',
  "message",
  "labels",
);
const scalar = fc.oneof(text, fc.constantFrom(0, 7, -2.5, 404, 500, 1e21, true, false, null));
const value = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.dictionary(name, scalar, { maxKeys: 2 }));

export const lokiTestEntry: fc.Arbitrary<TestEntry> = fc.record(
  {
    timestamp: fc.integer({ min: BEGIN, max: BEGIN + 100 }),
    level: fc.constantFrom("info" as const, "warn" as const, "error" as const),
    category: fc.constantFrom("http", "custom"),
    type: fc.constantFrom("request", "log"),
    message: text,
    service: fc.constantFrom("web", "api", "timeout"),
    data: fc.dictionary(name, value, { maxKeys: 3 }),
  },
  { requiredKeys: ["timestamp", "level", "category", "type", "message"] },
);

/** The entry of a row as LogQL reads it. */
export function lokiEntryOfRow({ entry, projectId, seq }: Pick<TestRow, "entry" | "projectId" | "seq">): LokiEntry {
  const stored = parseStoredLine(lineOf(entry));
  if (stored === null) throw new Error("The line is an entry.");
  const { timestamp } = entry;
  return lokiEntryOf(stored, { timestamp, receivedAt: timestamp, seq, projectId, id: `log_${seq}` });
}
