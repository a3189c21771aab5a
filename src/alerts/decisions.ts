import { createHash } from "node:crypto";
import { mapRows } from "../platform/sql.ts";
import { printField } from "../query-language/fields.ts";
import { printFilter } from "../query-language/print.ts";
import { type Filter, joined, type OwnField, type ValueTest } from "../query-language/syntax.ts";
import { printDuration } from "../query-language/values.ts";
import { conditionText } from "./condition.ts";
import type { CountedQuery } from "./definition.ts";
import type { RunDecision } from "./evaluator.ts";
import { groupFilters, numberOf } from "./group-filters.ts";
import type { Counted } from "./matcher.ts";
import { END_TEXTS, type EndReason, NOTIFICATION_LIMITS, titleOf } from "./notifications/notification.ts";
import type { RunRule } from "./project-alerts.ts";
import { fillTemplate, type GroupValue, groupText, messageTime, type SaidGroup, USUAL_MESSAGE } from "./template.ts";

/** A decision as the history returns it. */
export interface StoredDecision {
  /** Also the id of its notification. */
  id: string;
  /** The order of decisions. */
  num: number;
  version: number;
  kind: "firing" | "resolved";
  /** Text of each grouping field's value; `null` without grouping. */
  group: Record<string, string> | null;
  /** The values themselves. `null`: not recorded by an earlier version; absent from an older object. */
  groupValues?: Record<string, GroupValue> | null;
  /** The end of the window, epoch milliseconds. */
  at: number;
  decidedAt: number;
  /** `null`: a rise from nothing, or a window without a value. */
  value: number | null;
  isExact: boolean;
  seqRange: { from: number; to: number } | null;
  isReported: boolean;
  isLate: boolean;
  isEnded: boolean;
  /** The link of its notification; `null` without one, absent from an older object. */
  link?: string | null;
}

/** Milliseconds for which decisions are listed. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;
/** Decisions of a workspace that are kept: the newest ones. */
const KEPT = 100_000;
/** Rows that one step deletes. */
const SWEEP_ROWS = 1000;

/**
 * Stores a decision.
 * @returns its id; `null` if it is stored already
 */
export function storeDecision(
  sql: SqlStorage,
  project: number,
  rule: RunRule,
  decision: RunDecision,
  now: number,
): string | null {
  const id = decisionId(rule, decision);
  const { kind, key, at, value, isExact, seqRange, isReported, isLate, isEnded } = decision;
  const { group, groupValues } = groupOf(rule.counted, key);
  const { rowsWritten } = sql.exec(
    `INSERT OR IGNORE INTO alert_decisions (id, project, rule, version, kind, group_values, typed_group, at, decided_at, value, first_seq, last_seq,
       is_reported, is_late, is_ended, is_exact) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[id, project, rule.rule, rule.version, kind, jsonOf(group), jsonOf(groupValues), at, now],
    ...[finite(value), seqRange?.from ?? null, seqRange?.to ?? null],
    ...[isReported ? 1 : 0, isLate ? 1 : 0, isEnded ? 1 : 0, isExact ? 1 : 0],
  );
  return rowsWritten === 0 ? null : id;
}

function jsonOf(group: object | null): string | null {
  return group === null ? null : JSON.stringify(group);
}

/** Returns a value as JSON has it: `null` for a rise from nothing, which is infinite. */
export function finite(value: number | null): number | null {
  return value !== null && Number.isFinite(value) ? value : null;
}

/** Deletes some decisions that are older than the history. */
export function sweepDecisions(sql: SqlStorage, now: number): void {
  sql.exec(
    `DELETE FROM alert_decisions WHERE num IN
       (SELECT num FROM (SELECT num, decided_at FROM alert_decisions ORDER BY num LIMIT ${SWEEP_ROWS})
        WHERE decided_at < ? OR num <= (SELECT MAX(num) FROM alert_decisions) - ${KEPT})`,
    now - KEPT_MS,
  );
}

/** Deletes some decisions of a deleted project. @returns whether none is left */
export function deleteSomeDecisions(sql: SqlStorage, project: number): boolean {
  const gone = sql.exec(
    `DELETE FROM alert_decisions WHERE num IN (SELECT num FROM alert_decisions WHERE project = ? LIMIT ${SWEEP_ROWS})
     RETURNING 1`,
    project,
  );
  return gone.toArray().length < SWEEP_ROWS;
}

/**
 * Returns decisions of a rule, newest first.
 * @param before `num` of the last decision of the page before
 */
export function listDecisions(
  sql: SqlStorage,
  project: number,
  ruleId: string,
  before: number,
  limit: number,
): StoredDecision[] {
  type Row = Record<"id" | "kind", string> &
    Record<"num" | "version" | "at" | "decidedAt" | "isReported" | "isLate" | "isEnded" | "isExact", number> &
    Record<"value" | "firstSeq" | "lastSeq", number | null> &
    Record<"group" | "groupValues" | "link", string | null>;
  return mapRows(
    sql,
    ({
      firstSeq,
      lastSeq,
      kind,
      group,
      groupValues,
      isReported,
      isLate,
      isEnded,
      isExact,
      ...row
    }: Row): StoredDecision => ({
      ...row,
      kind: kind === "firing" ? "firing" : "resolved",
      // SAFETY: only `storeDecision` writes groups.
      group: group === null ? null : (JSON.parse(group) as Record<string, string>),
      // SAFETY: as above.
      groupValues: groupValues === null ? null : (JSON.parse(groupValues) as Record<string, GroupValue>),
      seqRange: firstSeq === null || lastSeq === null ? null : { from: firstSeq, to: lastSeq },
      isReported: isReported === 1,
      isLate: isLate === 1,
      isEnded: isEnded === 1,
      isExact: isExact === 1,
    }),
    `SELECT d.num, d.id, d.version, d.kind, d.group_values AS "group", d.typed_group AS groupValues, d.at, d.decided_at AS decidedAt, d.value,
       d.first_seq AS firstSeq, d.last_seq AS lastSeq, d.is_reported AS isReported, d.is_late AS isLate,
       d.is_ended AS isEnded, d.is_exact AS isExact,
       (SELECT json_extract(n.content, '$.link') FROM notifications n WHERE n.id = d.id) AS link
     FROM alert_decisions d JOIN alert_rules r ON r.num = d.rule
     WHERE r.project = ? AND d.project = r.project AND r.id = ? AND r.deleted_at IS NULL AND d.num < ? ORDER BY d.num DESC LIMIT ?`,
    project,
    ruleId,
    before,
    limit,
  );
}

/** Hexadecimal characters of an id: 128 bits. */
const ID_LENGTH = 32;

/** The same decision has the same id, however often it is made. */
function decisionId({ num, ruleId }: RunRule, { kind, key, at, isLate, isEnded }: RunDecision): string {
  const name = JSON.stringify([ruleId, num, key, at, kind, isLate, isEnded]);
  return `ntf_${createHash("sha256").update(name).digest("hex").slice(0, ID_LENGTH)}`;
}

/** What a notification says of a decision, besides ids. */
export interface DecisionTexts extends SaidGroup {
  ended: boolean;
  reason: EndReason | null;
  title: string;
  message: string;
  /** `from < receivedAt <= to`, ISO 8601. */
  window: { from: string; to: string };
  link: string;
}

/** Where the console shows a project. */
export interface ConsolePlace {
  origin: string;
  workspaceId: string;
  projectId: string;
}

export function textsOf(rule: RunRule, decision: RunDecision, place: ConsolePlace): DecisionTexts {
  const { definition, counted } = rule;
  const { name, message, condition, windowMs } = definition;
  const said = groupOf(counted, decision.key);
  const { at, kind, value, isEnded } = decision;
  const reason = !isEnded ? null : rule.isDeleted ? "deleted" : "changed";
  const inOneLine = groupText(said);
  const window = { from: new Date(at - windowMs).toISOString(), to: new Date(at).toISOString() };
  const values: Record<string, string> = {
    name,
    state: kind,
    value: valueText(value),
    condition: conditionText(condition),
    window: printDuration(windowMs),
    group: inOneLine,
    at: messageTime(at),
    ...Object.fromEntries(Object.entries(said.group ?? {}).map(([field, text]) => [`group.${field}`, text])),
  };
  const title = titleOf(kind, `${name}${inOneLine === "" ? "" : ` (${inOneLine})`}`);
  const filled = fillTemplate(message === "" ? USUAL_MESSAGE : message, values, NOTIFICATION_LIMITS.message);
  const text = reason === null ? filled : `${END_TEXTS[reason]}\n${filled}`;
  const link = linkOf(place, counted, decision, windowMs);
  return { ...said, ended: isEnded, reason, title, message: text, window, link };
}

function valueText(value: number | null): string {
  if (value === null) return "no value";
  return Number.isFinite(value) ? String(Math.round(value * 100) / 100) : "new";
}

/** Returns the values of a group by field; `null` without grouping. */
export function groupOf(
  { by }: Pick<CountedQuery, "by">,
  key: string,
): { group: Record<string, string> | null; groupValues: Record<string, GroupValue> | null } {
  if (by.length === 0) return { group: null, groupValues: null };
  // SAFETY: only the matcher writes keys.
  const values = JSON.parse(key) as GroupValue[];
  const members = by.map((field, at) => [printField(field), values[at] ?? null] as const);
  const group = Object.fromEntries(members.map(([field, value]) => [field, String(value)]));
  return { group, groupValues: Object.fromEntries(members) };
}

/** Returns the page that shows exactly the entries of a decision: by their `seq`, which never changes. */
function linkOf(
  { origin, workspaceId, projectId }: ConsolePlace,
  counted: Counted,
  { key, seqRange, at }: RunDecision,
  windowMs: number,
): string {
  const { filter, delayMs } = counted;
  const own = (name: OwnField, test: ValueTest): Filter => ({ kind: "field", field: { kind: "own", name }, test });
  const instant = (ms: number) => {
    return { kind: "time" as const, time: { kind: "period" as const, from: ms, to: ms + 1 } };
  };
  // The end of a range of times is excluded.
  const window: ValueTest = { kind: "range", from: instant(at - windowMs + 1), to: instant(at + 1) };
  const times = delayMs !== null ? [own("time", window)] : seqRange === null ? [own("received", window)] : [];
  const seqs = seqRange === null ? [] : [own("seq", seqTest(seqRange))];
  const parts = [filter, ...groupFilters(counted, key), ...times, ...seqs].filter(({ kind }) => kind !== "all");
  const query = new URLSearchParams({ q: printFilter(joined("and", parts)), range: "all" });
  return `${origin}/w/${workspaceId}/p/${projectId}?${query}`;
}

function seqTest({ from, to }: { from: number; to: number }) {
  return { kind: "range" as const, from: numberOf(from), to: numberOf(to) };
}
