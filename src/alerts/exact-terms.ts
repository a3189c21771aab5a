/**
 * Sums of doubles without rounding, as expansions (Shewchuk 1997): doubles that do not overlap, rising in size, whose exact
 * sum is the sum of all values. The order of the values does not matter. Values are below 2 ** 960 in size.
 */

/** Adds a value to an expansion, in place. */
export function addTerm(terms: number[], value: number): void {
  let carried = value;
  let kept = 0;
  for (const term of terms) {
    const sum = carried + term;
    const part = sum - carried;
    const error = carried - (sum - part) + (term - part);
    if (error !== 0) terms[kept++] = error;
    carried = sum;
  }
  terms.length = kept;
  if (carried !== 0) terms.push(carried);
}

/** Returns the sum of expansions, rounded once. */
export function sumOf(expansions: readonly (readonly number[])[]): number {
  const terms: number[] = [];
  for (const expansion of expansions) for (const term of expansion) addTerm(terms, term);
  let sum = terms.at(-1) ?? 0;
  for (let at = terms.length - 2; at >= 0; at--) {
    const term = terms[at] ?? 0;
    const before = sum;
    sum = before + term;
    const error = term - (sum - before);
    if (error === 0) continue;
    // Two neighbours are equally near: the sign of what follows decides.
    const next = terms[at - 1] ?? 0;
    if ((error > 0 && next > 0) || (error < 0 && next < 0)) {
      const doubled = error * 2;
      const nearest = sum + doubled;
      if (nearest - sum === doubled) sum = nearest;
    }
    break;
  }
  return sum;
}
