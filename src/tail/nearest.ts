import type { SeqEntry } from "./entries.ts";

/** Keeps of many entries those nearest to one `seq`, up to so many characters: 200 neighbours may have 50 MiB. */
export class NearestEntries {
  readonly #seq: number;
  readonly #maxCharacters: number;
  readonly #kept = new Map<number, SeqEntry>();
  #characters = 0;
  /** Nothing at this distance or farther is kept any more. */
  #tooFar = Number.POSITIVE_INFINITY;

  constructor(seq: number, maxCharacters: number) {
    this.#seq = seq;
    this.#maxCharacters = maxCharacters;
  }

  /** Whether some have been left out: they lie outside those kept. */
  get isCut(): boolean {
    return Number.isFinite(this.#tooFar);
  }

  /** Takes an entry; one that is there already is passed over. */
  add(entry: SeqEntry): void {
    if (this.#distance(entry) >= this.#tooFar || this.#kept.has(entry.seq)) return;
    this.#kept.set(entry.seq, entry);
    this.#characters += entry.text.length;
    while (this.#characters > this.#maxCharacters && this.#kept.size > 1) this.#dropFarthest();
  }

  /** In order of `seq`. */
  entries(): SeqEntry[] {
    return [...this.#kept.values()].sort((a, b) => a.seq - b.seq);
  }

  #dropFarthest(): void {
    this.#tooFar = Math.max(...[...this.#kept.values()].map((entry) => this.#distance(entry)));
    for (const entry of this.#kept.values()) {
      if (this.#distance(entry) < this.#tooFar) continue;
      this.#kept.delete(entry.seq);
      this.#characters -= entry.text.length;
    }
  }

  #distance({ seq }: SeqEntry): number {
    return Math.abs(seq - this.#seq);
  }
}
