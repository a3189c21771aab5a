import { type Aggregator, TYPE_BITS } from "./aggregator.ts";
import { CARDINALITY_ERROR } from "./cardinality.ts";
import { MAX_GROUPS_OF_ENTRY } from "./entry-aggregator.ts";
import type { Column, MeasureKind } from "./plan.ts";
import { SKETCH_ERROR } from "./sketch.ts";
import { EXACT_LIMITS } from "./totals.ts";
import { LISTED_VALUES } from "./values.ts";

/** What a finished table has to state about its rows. */
export interface TableNotes {
  /** Number of all groups, and of those that have a row. */
  groups: number;
  rows: number;
  /** Columns with approximate values, with sums that are no doubles, and with lists that leave values out. */
  inexact: Set<Column>;
  overflowed: Set<Column>;
  cut: Set<Column>;
}

/** Measures that read numbers and nothing else. */
const NUMBER_MEASURES: ReadonlySet<MeasureKind> = new Set(["sum", "extremes", "percentiles"]);
const TYPE_NAMES = [
  [TYPE_BITS.boolean, "booleans"],
  [TYPE_BITS.number, "numbers"],
  [TYPE_BITS.string, "strings"],
  [TYPE_BITS.nested, "objects"],
] as const;

const { group: GROUP, total: TOTAL } = EXACT_LIMITS;
const BOUNDS = `${count(GROUP)} values in a group or ${count(TOTAL)} in all`;

/** Returns the notes of a table in a fixed order. */
export function notesOf(aggregator: Aggregator, shown: TableNotes): string[] {
  const notes: string[] = [];
  if (shown.rows < shown.groups) {
    notes.push(`The table has the first ${count(shown.rows)} of ${count(shown.groups)} rows.`);
  }
  const approximate = (kind: MeasureKind) => names(shown.inexact, (column) => kindOf(aggregator, column) === kind);
  const percentiles = approximate("percentiles");
  if (percentiles !== "") {
    notes.push(`${percentiles}: within ${SKETCH_ERROR * 100} % of the exact value, because of more than ${BOUNDS}.`);
  }
  const distinct = approximate("distinct");
  if (distinct !== "") {
    const error = `standard error ${(CARDINALITY_ERROR * 100).toFixed(1)} %`;
    notes.push(`${distinct}: estimated (${error}), because of more than ${BOUNDS}.`);
  }
  const overflowed = names(shown.overflowed);
  if (overflowed !== "") notes.push(`${overflowed}: null where the sum is larger than any JSON number may be.`);
  const cut = names(shown.cut);
  if (cut !== "") notes.push(`${cut}: the first ${LISTED_VALUES} different values of each group.`);
  if (aggregator.leavesItemsOut) {
    notes.push(`Entries with longer arrays count in their first ${MAX_GROUPS_OF_ENTRY} groups only.`);
  }
  return [...notes, ...fieldNotes(aggregator)];
}

function* fieldNotes({ plan, types }: Aggregator): Generator<string> {
  for (const [index, { name, own }] of plan.fields.entries()) {
    const bits = types[index] ?? 0;
    if (own !== null) continue;
    const isKey = plan.keys.some((key) => "field" in key && key.field === index);
    const isSummed = plan.measures.some(({ kind, field }) => field === index && NUMBER_MEASURES.has(kind));
    const isCounted = plan.measures.some(({ kind, field }) => field === index && kind === "distinct");
    const held = TYPE_NAMES.filter(([bit]) => (bits & bit) !== 0).map(([, what]) => what);
    const others = held.filter((what) => what !== "numbers");
    if (held.length > 1) {
      const consequence = isSummed && others.length < held.length ? "; only its numbers are added up" : "";
      yield `\`${name}\` has mixed types: ${held.join(", ")}${consequence}.`;
    } else if (isSummed && others.length > 0) yield `\`${name}\` has no numbers, but ${others.join(", ")}.`;
    else if (isCounted && bits & TYPE_BITS.nested) {
      yield `\`${name}\` holds objects, and distinct whole objects are counted. To count a member, name its path: \`${name}.member\`.`;
    }
    if (isKey && bits & TYPE_BITS.array) yield `\`${name}\` has arrays: an entry counts in the group of each item.`;
  }
}

function kindOf(aggregator: Aggregator, column: Column): MeasureKind | undefined {
  return column.from === "measure" ? aggregator.measures[column.measure]?.kind : undefined;
}

function names(columns: ReadonlySet<Column>, wanted: (column: Column) => boolean = () => true): string {
  return [...columns]
    .filter(wanted)
    .map(({ name }) => `\`${name}\``)
    .sort()
    .join(", ");
}

function count(number: number): string {
  return number.toLocaleString("en-US");
}
