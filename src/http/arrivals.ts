/**
 * Requests that this isolate has begun to answer. No answer depends on it: long work gives way to others as long as some
 * keep coming. (Those being answered cannot be counted: what a caller breaks off never gets to its end.)
 */
let begun = 0;

/** Counts up, from 0, for as long as the isolate lives. */
export function requestsStarted(): number {
  return begun;
}

export function countStartedRequest(): void {
  begun++;
}
