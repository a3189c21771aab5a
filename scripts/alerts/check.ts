import type { StoredEntry } from "../../src/logs/entry.ts";
import { logId } from "../../src/logs/entry-view.ts";
import { entryTestOf, readerOf } from "../../src/logs/search/entry-test.ts";
import { printField } from "../../src/query-language/fields.ts";
import { parse } from "../../src/query-language/parse.ts";
import { type Field, joined, type Query } from "../../src/query-language/syntax.ts";
import { parseDuration } from "../../src/query-language/values.ts";
import { countLate, type PlainDecision, type PlainEntry, type PlainRule, recompute } from "./recompute.ts";
import type { PlainFunction } from "./values.ts";

/** An alert as `GET /projects/{projectId}/alerts/{alertId}` returns it, as far as decisions depend on it. */
export interface CheckedAlert {
  query: string;
  condition:
    | { kind: "threshold" | "rate" | "absence"; value: number; direction?: "above" | "below" }
    | { kind: "new-pattern" }
    | { kind: "change"; direction: "rise" | "fall"; percent: number; min: number };
  window: string;
  delay: string | null;
  for: string;
  recovery: number | null;
  notCounted: number;
  late: number;
  since: { seq: number; receivedAt: string };
  position: { seq: number; through: string };
}

/** A decision as `GET .../decisions` returns it. */
export interface CheckedDecision {
  kind: "firing" | "resolved";
  group: Record<string, string> | null;
  /** Absent from responses of versions before it: groups of one text are one then. */
  groupValues?: Record<string, unknown> | null;
  at: string;
  value: number | null;
  exact: boolean;
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
  if (alert.notCounted > 0) throw new RangeError("Entries were not counted, because groups or values had no room.");
  const counted = countedOf(alert);
  const rule = plainRule(alert, counted);
  const plain = entriesOf(counted, alert, entries);
  const late = countLate(rule, plain);
  const until = Date.parse(alert.position.through);
  const isTyped = decisions.every(({ group, groupValues }) => group === null || groupValues != null);
  const expected = new Set(recompute(rule, plain, until).map((decision) => textOf(counted.by, decision, isTyped)));
  const made = decisions
    .filter(
      ({ at, late, ended }) =>
        !late && !ended && Date.parse(at) > rule.startAt && Date.parse(at) <= until - (rule.delayMs ?? 0),
    )
    .map((decision) => textOfMade(decision, isTyped));
  const seen = new Set<string>();
  const doubled = made.filter((text) => seen.has(text) || !seen.add(text));
  return {
    expected: expected.size,
    missed: [...expected].filter((text) => !seen.has(text)),
    doubled,
    wrong: [
      ...[...seen].filter((text) => !expected.has(text)),
      ...(late === alert.late ? [] : [`${alert.late} late entries instead of ${late}`]),
    ],
  };
}

interface Counted {
  query: Query;
  by: Field[];
  measure: { fn: PlainFunction; field: Field } | null;
}

const PATTERN: Field = { kind: "own", name: "pattern" };

function countedOf({ query: text, condition }: CheckedAlert): Counted {
  const parsed = parse(text);
  if (!parsed.ok) throw new RangeError(parsed.error.message);
  const { query } = parsed;
  if (condition.kind === "new-pattern") return { query, by: [PATTERN], measure: null };
  const keys = query.pipes.flatMap((pipe) => (pipe.kind === "count" || pipe.kind === "stats" ? pipe.by : []));
  const [only] = query.pipes.flatMap((pipe) => (pipe.kind === "stats" ? pipe.aggregates : []));
  // SAFETY: the service has accepted the rule's function.
  const measure = only?.field ? { fn: only.fn as PlainFunction, field: only.field } : null;
  return { query, by: keys.flatMap((key) => (key.kind === "field" ? [key.field] : [])), measure };
}

function plainRule(alert: CheckedAlert, { by, measure }: Counted): PlainRule {
  const { condition, window, delay, for: wait, recovery, since } = alert;
  const change = condition.kind === "change" ? condition : null;
  const isBelow = condition.kind === "threshold" && condition.direction === "below";
  return {
    kind: condition.kind === "change" ? condition.direction : isBelow ? "below" : condition.kind,
    fn: measure?.fn ?? null,
    value: condition.kind === "change" ? condition.percent : condition.kind === "new-pattern" ? 0 : condition.value,
    min: change?.min ?? 0,
    windowMs: parseDuration(window) ?? 0,
    delayMs: delay === null ? null : (parseDuration(delay) ?? 0),
    forMs: parseDuration(wait) ?? 0,
    recovery,
    isGrouped: by.length > 0,
    startSeq: since.seq,
    startAt: Date.parse(since.receivedAt),
  };
}

function entriesOf(
  { query, by, measure }: Counted,
  { position, delay }: CheckedAlert,
  entries: Iterable<StoredEntry>,
): PlainEntry[] {
  const filters = [query.filter, ...query.pipes.flatMap((pipe) => (pipe.kind === "where" ? [pipe.filter] : []))];
  const passes = entryTestOf(joined("and", filters), 0);
  const readers = by.map(readerOf);
  const readValues = measure === null ? null : readerOf(measure.field);
  const plain: PlainEntry[] = [];
  // Versions before alerts stored the time of a clock that might be set back. Rules count such entries as received with the last one.
  let receivedAt = 0;
  for (const entry of entries) {
    const { seq, projectId } = entry;
    if (seq > position.seq) continue;
    receivedAt = Math.max(receivedAt, Date.parse(entry.receivedAt));
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
    const values: (number | string)[] = [];
    readValues?.(entry, place, (value) => {
      for (const each of Array.isArray(value) ? value : [value]) {
        const isNumber = typeof each === "number";
        if (values.length === 1000) break;
        if (measure?.fn !== "count_distinct") {
          if (isNumber && Math.abs(each) < 2 ** 960) values.push(each);
        } else if (isNumber || typeof each === "string" || typeof each === "boolean") values.push(JSON.stringify(each));
      }
      return false;
    });
    const at = delay === null ? receivedAt : Math.min(place.timestamp, receivedAt);
    for (const key of keys) plain.push({ seq, receivedAt, at, key: JSON.stringify(key), values });
  }
  return plain;
}

function textOf(
  by: readonly Field[],
  { kind, key, at, value, isExact, seqRange }: PlainDecision,
  isTyped: boolean,
): string {
  // SAFETY: `entriesOf` writes keys.
  const values = JSON.parse(key) as unknown[];
  const members = by.map((field, n) => [printField(field), isTyped ? values[n] : String(values[n])]);
  const group = by.length === 0 ? null : Object.fromEntries(members);
  const shown = value !== null && Number.isFinite(value) ? value : null;
  return JSON.stringify([new Date(at).toISOString(), kind, group, shown, isExact, seqRange?.from, seqRange?.to]);
}

function textOfMade(decision: CheckedDecision, isTyped: boolean): string {
  const { kind, group, groupValues, at, value, exact, seqRange } = decision;
  return JSON.stringify([at, kind, isTyped ? groupValues : group, value, exact, seqRange?.from, seqRange?.to]);
}
