/** The order of rows by a column; `null`: as they were answered. */
export type RowOrder = { column: number; isDescending: boolean } | null;

/** Returns the order after a press of a heading: numbers from the largest, texts from the first, then reversed, then as answered. */
export function nextOrder(order: RowOrder, column: number, isNumber: boolean): RowOrder {
  if (order?.column !== column) return { column, isDescending: isNumber };
  return order.isDescending === isNumber ? { column, isDescending: !isNumber } : null;
}

/** Returns rows in an order. Rows of equal values keep theirs; those without a value come last. */
export function sortedRows(rows: readonly unknown[][], order: RowOrder): readonly unknown[][] {
  if (order === null) return rows;
  const { column, isDescending } = order;
  return [...rows].sort((a, b) => {
    const [first, second] = [a[column] ?? null, b[column] ?? null];
    if (first === null || second === null) return Number(first === null) - Number(second === null);
    const difference = compared(first, second);
    return isDescending ? -difference : difference;
  });
}

function compared(a: unknown, b: unknown): number {
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}
