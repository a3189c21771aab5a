/** A column of the list: a field as queries name it, and its width. */
export interface Column {
  field: string;
  /** Pixels. */
  width: number;
}

export const COLUMN_WIDTH = { least: 48, usual: 128, most: 800, step: 16 } as const;
/** Columns of a list, and characters of the name of one. */
const MOST = 30;
const LONGEST = 512;

/** The name with a width: `status:90`. In a name, `:` and `,` are in quotes. */
const COLUMN = /^((?:[^":,]|"(?:[^"\\]|\\.)*")+)(?::(\d{1,4}))?(?:,|$)/;

/** Reads the columns of an address; `null` if they are not columns. */
export function readColumns(text: string | null): Column[] | null {
  const columns: Column[] = [];
  for (let rest = text ?? ""; rest !== ""; ) {
    const [whole, field = "", width] = COLUMN.exec(rest) ?? [""];
    if (whole === "" || field.length > LONGEST || columns.length === MOST) return null;
    if (!columns.some((each) => each.field === field)) {
      columns.push({ field, width: clamped(width === undefined ? COLUMN_WIDTH.usual : Number(width)) });
    }
    rest = rest.slice(whole.length);
  }
  return columns;
}

export function columnsText(columns: readonly Column[]): string {
  return columns.map(({ field, width }) => (width === COLUMN_WIDTH.usual ? field : `${field}:${width}`)).join(",");
}

function clamped(width: number): number {
  return Math.min(COLUMN_WIDTH.most, Math.max(COLUMN_WIDTH.least, Math.round(width)));
}

/** Adds a column at the end, or removes it. */
export function withColumn(columns: readonly Column[], field: string): Column[] {
  const left = columns.filter((each) => each.field !== field);
  if (left.length < columns.length || columns.length === MOST) return left;
  return [...columns, { field, width: COLUMN_WIDTH.usual }];
}

/** Moves a column by so many places. */
export function moved(columns: readonly Column[], field: string, by: number): Column[] {
  const from = columns.findIndex((each) => each.field === field);
  const column = columns[from];
  if (column === undefined) return [...columns];
  const left = columns.filter((each) => each !== column);
  const to = Math.min(left.length, Math.max(0, from + by));
  return [...left.slice(0, to), column, ...left.slice(to)];
}

export function resized(columns: readonly Column[], field: string, width: number): Column[] {
  return columns.map((each) => (each.field === field ? { field, width: clamped(width) } : each));
}
