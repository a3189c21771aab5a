/**
 * Bytes of an object's storage from which it takes in nothing more, so that there is room left to work on what it holds.
 * The platform's bound is 10 GB.
 */
export const STORAGE_BOUND = { bytes: 8 * 1024 ** 3 };

/** Bytes taken in between two looks at the size, which cost 6 us each: little beside the room behind the bound. */
const LOOK_EVERY_BYTES = 64 * 1024 * 1024;

/** Whether an object's storage has room for more. */
export class StorageRoom {
  readonly #sql: Pick<SqlStorage, "databaseSize">;
  #isFull = true;
  #sinceLook = 0;

  constructor(sql: Pick<SqlStorage, "databaseSize">) {
    this.#sql = sql;
  }

  isFull(): boolean {
    // One that is full is looked at each time: it may have room again.
    if (this.#isFull || this.#sinceLook >= LOOK_EVERY_BYTES) {
      this.#isFull = this.#sql.databaseSize >= STORAGE_BOUND.bytes;
      this.#sinceLook = 0;
    }
    return this.#isFull;
  }

  /** So many bytes have been stored. */
  took(bytes: number): void {
    this.#sinceLook += bytes;
  }
}
