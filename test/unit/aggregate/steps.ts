/** Runs work to its end without pauses. */
export function inOneStep<T>(steps: Generator<number, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
