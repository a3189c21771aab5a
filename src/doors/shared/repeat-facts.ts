import type { DoorEntry } from "../entry.ts";

/** A time as sent with a fraction, or in nanoseconds, that is no whole second. A number cannot hold all its digits. */
const FINE = /\.\d*[1-9]|^\d{10}\d*[1-9]/;

/** What the records of a request say about its repetitions. */
export class RepeatFacts {
  #isEachKnown = true;
  #isFine = false;
  #isTimed = false;

  /**
   * Whether the same body again can only be a repetition of this request: every record has an id of the client's, or a
   * time that may be one, and these times are not all whole seconds.
   */
  get isRetry(): boolean {
    return this.#isEachKnown && (this.#isFine || !this.#isTimed);
  }

  /** @param hasTime whether the record has a time that may be one */
  note({ time, sentTime, id }: Pick<DoorEntry, "time" | "sentTime" | "id">, hasTime: boolean): void {
    if (id === undefined) this.noteTime(hasTime ? time : null, sentTime !== undefined && FINE.test(String(sentTime)));
  }

  /**
   * Notes a record without an id.
   * @param time `null` if it has none that may be one: a duration or an uptime under that name occurs again in another record
   * @param isFine whether the time as sent has more digits than `time`, which are no zeros
   */
  noteTime(time: number | null, isFine: boolean): void {
    if (time === null) {
      this.#isEachKnown = false;
      return;
    }
    this.#isTimed = true;
    if (isFine || time % 1000 !== 0) this.#isFine = true;
  }
}
