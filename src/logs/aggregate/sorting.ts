/** Comparisons between two points at which a sort may pause. */
const COMPARED_AT_ONCE = 4096;
/** Work units of a comparison. */
const COMPARISON_WORK = 40;

/**
 * Sorts numbers in place, stably (merge sort). Yields work units between two pieces of work, because a sort of many
 * groups takes longer than other requests may wait.
 */
export function* sortInSteps(numbers: Int32Array, compare: (a: number, b: number) => number): Generator<number> {
  let from: Int32Array = numbers;
  let to: Int32Array = new Int32Array(numbers.length);
  let compared = 0;
  for (let width = 1; width < numbers.length; width *= 2) {
    for (let start = 0; start < numbers.length; start += 2 * width) {
      const middle = Math.min(start + width, numbers.length);
      const end = Math.min(start + 2 * width, numbers.length);
      let left = start;
      let right = middle;
      for (let at = start; at < end; at++) {
        const a = from[left] ?? 0;
        const b = from[right] ?? 0;
        const takesLeft = right >= end || (left < middle && compare(a, b) <= 0);
        to[at] = takesLeft ? a : b;
        if (takesLeft) left++;
        else right++;
        if (++compared % COMPARED_AT_ONCE === 0) yield COMPARED_AT_ONCE * COMPARISON_WORK;
      }
    }
    [from, to] = [to, from];
  }
  if (from !== numbers) numbers.set(from);
}
