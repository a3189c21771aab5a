import { createHash } from "node:crypto";
import type { ClientId } from "../entry.ts";

/** Bytes of a record's id: the beginning of a SHA-256. */
const ID_BYTES = 16;
const FIRST_IDS = 64;
/** Bytes of an id in memory beside those that are sent. */
const SEEN_BYTES = 80;
/** Nanoseconds for a hash, and for a byte of what it is made from. */
export const ID_COST = { record: 5_000, byte: 4 } as const;
/** Length of `{"timestamp":"2026-11-23T08:00:00.123Z"`, with which each line begins. */
const TIMESTAMP_LENGTH = 39;

/** A stored line as text or as bytes. */
export type Line = string | Uint8Array;

/**
 * Ids of the records of one request, in the order of its stored entries. A record has one if its client gave it one, or of its
 * content if records are recognized. The object finds by them what another request has stored.
 */
export class RecordIds {
  readonly #isEach: boolean;
  #ids = new Uint8Array(0);
  #count = 0;
  #hasAny = false;
  readonly #merged: number[] = [];
  /** Ids by how often their content has occurred in the request. */
  readonly #seen = new Map<string, number>();

  /** @param isEach whether records without an id of the client's, but with a time, are recognized by their content */
  constructor(isEach: boolean) {
    this.#isEach = isEach;
  }

  /** Approximate bytes. */
  get held(): number {
    return this.#ids.length + this.#seen.size * SEEN_BYTES;
  }

  /** Indexes of the records that are left out, because they are stored already, in order. */
  get mergedIndexes(): readonly number[] {
    return this.#merged.sort((a, b) => a - b);
  }

  /** Whether a record needs its line for its id. */
  needsLine(id: ClientId | undefined, hasTime: boolean): boolean {
    return id === undefined ? this.#isEach && hasTime : id.hasContent;
  }

  /**
   * Adds the next record.
   * @param index of the record in the request
   * @param id that the client gave it
   * @param line as it is stored; only if `needsLine`
   * @param hasTime whether the client sent its time, so that the line has no time of receipt
   * @returns `false` if an earlier record of the request has the same id of the client's: it must not be stored
   */
  add(index: number, id: ClientId | undefined, line: Line | null, hasTime: boolean): boolean {
    if (id === undefined && line === null) {
      this.#count++;
      return true;
    }
    const hash = createHash("sha256").update(id === undefined ? "" : `${id.text}\n`);
    if (line !== null) hash.update(hasTime ? line : line.slice(TIMESTAMP_LENGTH));
    const digest = hash.digest().subarray(0, ID_BYTES);
    const name = digest.toString("latin1");
    const times = this.#seen.get(name) ?? 0;
    if (id !== undefined && times > 0) {
      this.#merged.push(index);
      return false;
    }
    this.#seen.set(name, times + 1);
    // The second of two equal records of one request is not the first one again, in whatever request it is sent.
    if (times > 0) digest.writeUInt32LE((digest.readUInt32LE(ID_BYTES - 4) ^ times) >>> 0, ID_BYTES - 4);
    this.#room((this.#count + 1) * ID_BYTES);
    this.#ids.set(digest, this.#count++ * ID_BYTES);
    this.#hasAny = true;
    return true;
  }

  /** Returns the ids of some entries; `undefined` if no record of the request has one. */
  slice(from = 0, to = this.#count): Uint8Array | undefined {
    if (!this.#hasAny) return undefined;
    this.#room(to * ID_BYTES);
    return this.#ids.slice(from * ID_BYTES, to * ID_BYTES);
  }

  /**
   * Removes the ids of entries whose records are stored already.
   * @param positions in order
   * @param rejected indexes of the records that have no entry
   */
  remove(positions: readonly number[], rejected: readonly number[]): void {
    const gone = new Set([...rejected, ...this.#merged]);
    for (let index = 0, position = 0, at = 0; at < positions.length; index++) {
      if (gone.has(index) || position++ !== positions[at]) continue;
      this.#merged.push(index);
      at++;
    }
    const removed = new Set(positions);
    const before = this.slice() ?? new Uint8Array(0);
    let kept = 0;
    for (let at = 0; at < this.#count; at++) {
      if (removed.has(at)) continue;
      this.#ids.set(before.subarray(at * ID_BYTES, (at + 1) * ID_BYTES), kept++ * ID_BYTES);
    }
    this.#count = kept;
    this.#ids.fill(0, kept * ID_BYTES);
  }

  #room(bytes: number): void {
    if (bytes <= this.#ids.length) return;
    const grown = new Uint8Array(Math.max(bytes, 2 * this.#ids.length, FIRST_IDS * ID_BYTES));
    grown.set(this.#ids);
    this.#ids = grown;
  }
}

/** The id of the client's for a kind of record. */
export function clientId(kind: string, text: string, hasContent: boolean): ClientId {
  return { text: `${kind}\n${text}`, hasContent };
}
