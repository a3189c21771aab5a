/** Why a text is not a query, and where. */
export interface QueryError {
  /** What is wrong, then what is accepted. One sentence or two, without a final period. */
  message: string;
  /** UTF-16 offset in the query. */
  position: number;
  /** What is accepted at the position. */
  expected: string[];
  /** A text that may be meant, in place of what begins at the position. */
  suggestion?: string;
}

/** Thrown within the parser, which returns it as a `QueryError`. */
export class SyntaxFault extends Error {
  readonly error: QueryError;

  constructor(message: string, position: number, expected: readonly string[], suggestion?: string) {
    super(message);
    this.name = "SyntaxFault";
    this.error = { message, position, expected: [...expected], ...(suggestion === undefined ? {} : { suggestion }) };
  }
}

/** Returns the name that is most similar to a misspelt one; `undefined` if none is similar. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  let best: string | undefined;
  let distance = limit + 1;
  for (const each of names) {
    const found =
      each.toLowerCase().startsWith(wanted) && wanted.length > 1 ? limit : editDistance(wanted, each.toLowerCase());
    if (found < distance) [best, distance] = [each, found];
  }
  return best;
}

/** Longest name that is compared; a longer one is no misspelling. */
const MAX_NAME = 40;

/** Number of characters to insert, delete, replace or swap. */
function editDistance(a: string, b: string): number {
  if (a.length > MAX_NAME || b.length > MAX_NAME) return MAX_NAME;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let best = Math.min(replaced, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, (before[j - 2] ?? 0) + 1);
      row.push(best);
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
