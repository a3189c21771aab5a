import type { Key } from "../support/api.ts";
import type { SentBatch } from "./batch.ts";

/** An entry of a response, with the members that the tests compare. */
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

/** One project, and what is known about it from requests and responses. */
export class Project {
  readonly id: string;
  readonly key: Key;
  readonly name: string;
  readonly batches: SentBatch[] = [];
  /** The newest acknowledged `seq`. Every read that begins afterwards must include all entries up to it. */
  ackedSeq = 0;
  /** Whether its deletion was requested and confirmed. */
  deletion: "none" | "asked" | "done" = "none";
  /** Entries as first returned, by `seq`. They must be equal in all later responses of any route. */
  readonly #seen = new Map<number, string>();

  constructor(name: string, id: string, key: Key) {
    this.name = name;
    this.id = id;
    this.key = key;
  }

  acknowledged(lastSeq: number): void {
    this.ackedSeq = Math.max(this.ackedSeq, lastSeq);
  }

  /** @returns what is wrong with a returned entry, or `null` */
  see(row: Row, where: string): string[] {
    const text = JSON.stringify(row);
    const known = this.#seen.get(row.seq);
    if (known === undefined) this.#seen.set(row.seq, text);
    else if (known !== text) return [`${where}: ${this.name} ${row.seq} is ${text}, and was ${known}`];
    return row.projectId === this.id ? [] : [`${where}: an entry of ${row.projectId} is among those of ${this.id}`];
  }

  /** Frees the records of a round, because a run is long. */
  forget(): void {
    this.#seen.clear();
    this.batches.length = 0;
  }

  /** An entry that was returned before, or `undefined`. */
  seen(seq: number): Row | undefined {
    const text = this.#seen.get(seq);
    // SAFETY: the text was made from a row.
    return text === undefined ? undefined : (JSON.parse(text) as Row);
  }
}
