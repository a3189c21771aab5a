/**
 * Units of counted work. One unit is what it costs to decode one byte of stored lines and to look at it in a plain scan:
 * about 1.5 ns of one core (`UNIT_NS`). A clock cannot take the place of counting: in workerd `Date.now` stands still
 * while code runs. `npm run bench:work` measures every number below again and prints it beside the one that is written here.
 */
export const UNIT_NS = 1.5;

export const WORK = {
  /** Opens a batch or a frame: its columns, a decompression context, its first line. */
  unit: 6_000,
  /** Reads a part of a segment, and each byte of its directory of batches. */
  segment: 12_000,
  directoryByte: 8,
  /** One byte of stored lines, decoded and looked at. */
  byte: 1,
  /** One line: where it ends, its time, level, category and type. */
  line: 100,
  /** One byte of a line that is read as JSON, and such a line. */
  readByte: 2,
  readLine: 250,
  /** One test of `data` on one entry. */
  condition: 20,
  /** One string of an entry that is decoded, and each of its bytes: ASCII, escaped, and not ASCII (lower-casing costs most). */
  text: 80,
  textByte: 1.5,
  wideTextByte: 8,
  /** One character of two strings that are compared. */
  comparedCharacter: 0.1,
  /** One occurrence of a member name whose value a needle tests. */
  occurrence: 50,
  /** The packed counts of a batch or segment, and each byte of them. */
  summary: 600,
  countsByte: 10,
  /** A row that gets into the collector and may drop another one. */
  row: 800,
  /** One byte of an answer. */
  answerByte: 1,
} as const;

/** Counts the work of one request, and says when a pause is due. */
export class WorkMeter {
  #done = 0;
  #pauseAt: number;

  /** @param stretch units between two pauses */
  constructor(stretch = Number.POSITIVE_INFINITY) {
    this.#pauseAt = stretch;
  }

  /** Units so far. */
  get done(): number {
    return this.#done;
  }

  get isDue(): boolean {
    return this.#done >= this.#pauseAt;
  }

  add(units: number): void {
    this.#done += units;
  }

  /** A pause has been made; the next one is due after so many units. */
  paused(stretch: number): void {
    this.#pauseAt = this.#done + stretch;
  }
}
