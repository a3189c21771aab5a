import type { Key } from "../support/api.ts";
import type { SentBatch } from "./batch.ts";

/** An entry as the service answers with it, of which no more is looked at than this. */
export interface Row {
  id: string;
  seq: number;
  projectId: string;
  timestamp: string;
  receivedAt: string;
  level: string;
  category: string;
  type: string;
  message: string;
  data?: { group?: number; [name: string]: unknown };
}

/** One project, and all that is known of it from what was sent and answered. */
export class Project {
  readonly id: string;
  readonly key: Key;
  readonly name: string;
  readonly batches: SentBatch[] = [];
  /** The newest `seq` that an answer has acknowledged: what begins from now on has to see everything up to it. */
  ackedSeq = 0;
  /** Whether its deletion has been asked for, and answered. */
  deletion: "none" | "asked" | "done" = "none";
  /** Entries as they were first answered with, by `seq`: whoever answers, they never differ. */
  readonly #seen = new Map<number, string>();

  constructor(name: string, id: string, key: Key) {
    this.name = name;
    this.id = id;
    this.key = key;
  }

  acknowledged(lastSeq: number): void {
    this.ackedSeq = Math.max(this.ackedSeq, lastSeq);
  }

  /** @returns what is wrong with an entry that an answer holds */
  see(row: Row, where: string): string[] {
    const text = JSON.stringify(row);
    const known = this.#seen.get(row.seq);
    if (known === undefined) this.#seen.set(row.seq, text);
    else if (known !== text) return [`${where}: ${this.name} ${row.seq} is ${text}, and was ${known}`];
    return row.projectId === this.id ? [] : [`${where}: an entry of ${row.projectId} is among those of ${this.id}`];
  }

  /** A run is long: what its rounds have seen is not kept. */
  forget(): void {
    this.#seen.clear();
    this.batches.length = 0;
  }

  /** An entry that has been seen; undefined where nobody has seen it yet. */
  seen(seq: number): Row | undefined {
    const text = this.#seen.get(seq);
    // SAFETY: it was made from a row.
    return text === undefined ? undefined : (JSON.parse(text) as Row);
  }
}
