import type { StoredEntry } from "../../src/logs/entry.ts";
import { logId } from "../../src/logs/entry-view.ts";
import { entryTestOf, readerOf } from "../../src/logs/search/entry-test.ts";
import { printField } from "../../src/query-language/fields.ts";
import { parse } from "../../src/query-language/parse.ts";
import { type Field, joined, type Query } from "../../src/query-language/syntax.ts";
import { parseDuration } from "../../src/query-language/values.ts";
import { type PlainDecision, type PlainEntry, type PlainRule, recompute } from "./recompute.ts";

/** An alert as `GET /projects/{projectId}/alerts/{alertId}` returns it, as far as decisions depend on it. */
export interface CheckedAlert {
  query: string;
  condition:
    | { kind: "threshold" | "rate" | "absence"; value: number }
    | { kind: "change"; direction: "rise" | "fall"; percent: number; min: number };
  window: string;
  for: string;
  recovery: number | null;
  notCounted: number;
  since: { seq: number; receivedAt: string };
  position: { seq: number; through: string };
}

/** A decision as `GET .../decisions` returns it. */
export interface CheckedDecision {
  kind: "firing" | "resolved";
  group: Record<string, string> | null;
  at: string;
  value: number | null;
  seqRange: { from: number; to: number } | null;
  late: boolean;
  ended: boolean;
}

/** Differences between what a rule has decided and what its entries say, as text. */
export interface Differences {
  expected: number;
  missed: string[];
  doubled: string[];
  /** Decisions that the entries do not explain. */
  wrong: string[];
}

/**
 * Computes the decisions of an alert again.
 * @param decisions all of the alert, in any order
 * @param entries lines of the project's export, in order of `seq`
 */
export function checkAlert(
  alert: CheckedAlert,
  decisions: readonly CheckedDecision[],
  entries: Iterable<StoredEntry>,
): Differences {
  if (alert.notCounted > 0) throw new RangeError("Entries were not counted, because there were too many groups.");
  const counted = countedOf(alert.query);
  const rule = plainRule(alert, counted.by.length > 0);
  const plain = entriesOf(counted, alert, entries);
  const until = Date.parse(alert.position.through);
  const expected = new Set(recompute(rule, plain, until).map((decision) => textOf(counted.by, decision)));
  const made = decisions
    .filter(({ at, late, ended }) => !late && !ended && Date.parse(at) > rule.startAt && Date.parse(at) <= until)
    .map((decision) => textOfMade(decision));
  const seen = new Set<string>();
  const doubled = made.filter((text) => seen.has(text) || !seen.add(text));
  return {
    expected: expected.size,
    missed: [...expected].filter((text) => !seen.has(text)),
    doubled,
    wrong: [...seen].filter((text) => !expected.has(text)),
  };
}

interface Counted {
  query: Query;
  by: Field[];
}

function countedOf(text: string): Counted {
  const parsed = parse(text);
  if (!parsed.ok) throw new RangeError(parsed.error.message);
  const keys = parsed.query.pipes.flatMap((pipe) => (pipe.kind === "count" || pipe.kind === "stats" ? pipe.by : []));
  return { query: parsed.query, by: keys.flatMap((key) => (key.kind === "field" ? [key.field] : [])) };
}

function plainRule({ condition, window, for: delay, recovery, since }: CheckedAlert, isGrouped: boolean): PlainRule {
  const change = condition.kind === "change" ? condition : null;
  return {
    kind: condition.kind === "change" ? condition.direction : condition.kind,
    value: condition.kind === "change" ? condition.percent : condition.value,
    min: change?.min ?? 0,
    windowMs: parseDuration(window) ?? 0,
    forMs: parseDuration(delay) ?? 0,
    recovery,
    isGrouped,
    startSeq: since.seq,
    startAt: Date.parse(since.receivedAt),
  };
}

function entriesOf({ query, by }: Counted, { position }: CheckedAlert, entries: Iterable<StoredEntry>): PlainEntry[] {
  const filters = [query.filter, ...query.pipes.flatMap((pipe) => (pipe.kind === "where" ? [pipe.filter] : []))];
  const passes = entryTestOf(joined("and", filters), 0);
  const readers = by.map(readerOf);
  const plain: PlainEntry[] = [];
  for (const entry of entries) {
    const { seq, projectId } = entry;
    if (seq > position.seq) continue;
    const receivedAt = Date.parse(entry.receivedAt);
    const place = { timestamp: Date.parse(entry.timestamp), receivedAt, seq, projectId, id: logId(projectId, seq) };
    if (!passes(entry, place)) continue;
    let keys: unknown[][] = [[]];
    for (const read of readers) {
      const values = new Set<unknown>();
      read(entry, place, (value) => {
        for (const each of Array.isArray(value) ? value : [value]) {
          const isText = typeof each === "string";
          if (values.size < 5 && (isText || typeof each === "number" || typeof each === "boolean"))
            values.add(isText ? each.slice(0, 200) : each);
        }
        return false;
      });
      if (values.size === 0) values.add(null);
      keys = keys.flatMap((key) => [...values].map((value) => [...key, value]));
    }
    for (const key of keys) plain.push({ seq, receivedAt, key: JSON.stringify(key) });
  }
  return plain;
}

function textOf(by: readonly Field[], { kind, key, at, value, seqRange }: PlainDecision): string {
  // SAFETY: `entriesOf` writes keys.
  const values = JSON.parse(key) as unknown[];
  const group =
    by.length === 0 ? null : Object.fromEntries(by.map((field, n) => [printField(field), String(values[n])]));
  const shown = Number.isFinite(value) ? value : null;
  return JSON.stringify([new Date(at).toISOString(), kind, group, shown, seqRange?.from, seqRange?.to]);
}

function textOfMade({ kind, group, at, value, seqRange }: CheckedDecision): string {
  return JSON.stringify([at, kind, group, value, seqRange?.from, seqRange?.to]);
}
