import { useMemo } from "preact/hooks";
import { timeFormat } from "../../../lib/zone.ts";
import type { LogEntry } from "../../../model/types.ts";
import type { Column } from "../view/columns.ts";
import { language } from "../view/language.ts";
import type { CellValue, ReadCell } from "./cells.ts";
import { fieldsWithin, inlineFields, isServiceName } from "./inline-fields.ts";
import { ownName } from "./own-name.ts";

/** Names that queries have without quotes. The field list has the others, too. */
const PLAIN = /^[A-Za-z_]\w*$/;
/** Entries that decide what the rows show. */
const LOOKED = 200;
/** Members that vary and may become columns: also those whose value the message has. */
const CANDIDATES = 20;

/** A chosen column. */
export interface ShownColumn {
  field: string;
  read: ReadCell;
  /** Whether its values are numbers, whose ends are aligned. */
  isNumeric: boolean;
}

interface RowParts {
  inline: readonly (readonly string[])[];
  cells: readonly ShownColumn[];
  /** Fields that may become columns. */
  candidates: readonly string[];
  /** Name of the third column. */
  source: string;
  /** Whether the time is enough, because all entries are of today. */
  isOneDay: boolean;
  /** Whether an entry is of another year than today, so that dates have the year. */
  hasYears: boolean;
}

/**
 * Chooses what the rows of a list show. More rows below the first change nothing, so that no row changes while it is read.
 * @param width of the list in pixels
 */
export function useRowParts(
  entries: readonly LogEntry[],
  columns: readonly Column[],
  query: string | undefined,
  width: number,
): RowParts {
  const [first] = entries;
  // A live list chooses again as it doubles, not for each entry.
  const looked = Math.ceil(Math.log2(Math.min(entries.length, LOOKED) + 1));
  const varying = useMemo(() => inlineFields(entries, CANDIDATES), [query, looked]);
  const cells = useMemo(() => cellsOf(columns, entries), [query, looked, fieldsOf(columns)]);
  const source = useMemo(() => {
    return entries.slice(0, LOOKED).some((entry) => ownName(entry, "service") !== "") ? "Service" : "Category";
  }, [query, looked]);
  const most = fieldsWithin(width);
  const inline = useMemo(() => {
    const named = new Set(columns.map(({ field }) => field));
    return varying
      .filter((path) => !(source === "Service" && isServiceName(path)) && !named.has(path.join(".")))
      .slice(0, most);
  }, [varying, source, most, fieldsOf(columns)]);
  const [newest, oldest] = [first?.timestamp, entries.at(-1)?.timestamp];
  const isOneDay = dayOf(newest) === dayOf(oldest) && (newest === undefined || dayOf(newest) === DAY(Date.now()));
  const now = YEAR(Date.now());
  const hasYears = [newest, oldest].some((each) => each !== undefined && YEAR(new Date(each)) !== now);
  const candidates = useMemo(() => {
    const named = varying.filter((path) => path.every((name) => PLAIN.test(name))).map((path) => path.join("."));
    return [...new Set([...columns.map(({ field }) => field), ...named, "host", "type", "trace", "session"])];
  }, [varying, fieldsOf(columns)]);
  return { inline, cells, candidates, source, isOneDay, hasYears };
}

const DAY = timeFormat({ dateStyle: "short" });
const YEAR = timeFormat({ year: "numeric" });

/** An address with columns has loaded the language. */
function cellsOf(columns: readonly Column[], entries: readonly LogEntry[]): RowParts["cells"] {
  return columns.map(({ field }) => {
    const read = language()?.cellReader(field) ?? (() => NOTHING);
    const values = entries.slice(0, LOOKED).map(read);
    const there = values.filter(({ text }) => text !== "");
    return { field, read, isNumeric: there.length > 0 && there.every(({ isNumber }) => isNumber) };
  });
}

const NOTHING: CellValue = { text: "", exact: "", isNumber: false };

function fieldsOf(columns: readonly Column[]): string {
  return columns.map(({ field }) => field).join("\n");
}

function dayOf(timestamp: string | undefined): string {
  return timestamp === undefined ? "" : DAY(new Date(timestamp));
}
