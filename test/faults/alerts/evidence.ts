import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { type CheckedAlert, type CheckedDecision, checkAlert } from "../../../scripts/alerts/check.ts";
import type { StoredEntry } from "../../../src/logs/entry.ts";

/** What a workspace has decided, and the entries that it was decided from. Plain data. */
export interface Evidence {
  /** Files of the project's export, NDJSON, in order of `seq`. */
  exports: string[];
  alerts: { name: string; alert: CheckedAlert; decisions: CheckedDecision[] }[];
}

export interface Verdict {
  /** Numbers of entries, of decisions and of each kind of difference. */
  figures: Record<string, number>;
  problems: string[];
  /** A line for each rule. */
  rules: string[];
}

/** Differences of one kind of a rule that are reported. */
const SHOWN = 5;

/** Computes all decisions again from the export, and compares them. */
export async function checkEvidence({ exports, alerts }: Evidence): Promise<Verdict> {
  const entries: StoredEntry[] = [];
  for (const file of exports) for await (const entry of entriesIn(file)) entries.push(entry);
  const verdict: Verdict = { figures: { entries: entries.length, decisions: 0 }, problems: [], rules: [] };
  const { figures, problems, rules } = verdict;
  for (const [index, { seq }] of entries.entries())
    if (seq !== index + 1) problems.push(`The entry ${index + 1} of the export has the seq ${seq}.`);
  for (const { name, alert, decisions } of alerts) {
    const { expected, ...differences } = checkAlert(alert, decisions, entries);
    figures.decisions = (figures.decisions ?? 0) + expected;
    rules.push(`${name}, ${alert.query}, ${alert.window}: ${expected} decisions`);
    for (const [kind, texts] of Object.entries(differences)) {
      figures[kind] = (figures[kind] ?? 0) + texts.length;
      problems.push(...texts.slice(0, SHOWN).map((text) => `${name} ${kind}: ${text}`));
    }
  }
  return verdict;
}

async function* entriesIn(file: string): AsyncGenerator<StoredEntry> {
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const value: Record<string, unknown> = JSON.parse(line);
    // SAFETY: lines with a `seq` are entries; the last one says how far the export has got.
    if ("seq" in value) yield value as unknown as StoredEntry;
  }
}
