const TABLE = /\b(?:INTO|UPDATE|FROM)\s+(\w+)/i;

/** The table name for `setAlarm`, each call of which the platform bills as one row written. */
const ALARM = "(alarm)";

const counters = new WeakMap<SqlStorage, RowCounter>();

/**
 * Sums `rowsWritten` of every statement that one object runs, by table, including index rows. Patches the runtime's
 * prototypes, because the object's class accepts no substitute for its storage.
 */
export class RowCounter {
  readonly #rows = new Map<string, number>();

  /** Starts the counter of an object's storage. */
  static of(storage: DurableObjectStorage): RowCounter {
    hook(storage);
    const counter = counters.get(storage.sql) ?? new RowCounter();
    counters.set(storage.sql, counter);
    return counter;
  }

  byTable(): Record<string, number> {
    return Object.fromEntries(this.#rows);
  }

  add(table: string, rows: number): void {
    if (rows > 0) this.#rows.set(table, (this.#rows.get(table) ?? 0) + rows);
  }

  /** A statement with RETURNING writes while it is read, and has finished by the end of the turn. */
  addLater(statement: string, cursor: SqlStorageCursor<Record<string, SqlStorageValue>>): void {
    const table = TABLE.exec(statement)?.[1] ?? "(other)";
    queueMicrotask(() => this.add(table, cursor.rowsWritten));
  }
}

let isHooked = false;

function hook(storage: DurableObjectStorage): void {
  if (isHooked) return;
  isHooked = true;
  const sqlPrototype: SqlStorage = Object.getPrototypeOf(storage.sql);
  const { exec } = sqlPrototype;
  sqlPrototype.exec = function <T extends Record<string, SqlStorageValue>>(
    this: SqlStorage,
    statement: string,
    ...values: unknown[]
  ): SqlStorageCursor<T> {
    const cursor = exec.call<SqlStorage, [string, ...unknown[]], SqlStorageCursor<T>>(this, statement, ...values);
    if (!/^\s*SELECT/i.test(statement)) counters.get(this)?.addLater(statement, cursor);
    return cursor;
  };
  const storagePrototype: DurableObjectStorage = Object.getPrototypeOf(storage);
  const { setAlarm } = storagePrototype;
  storagePrototype.setAlarm = function (this: DurableObjectStorage, ...values: Parameters<typeof setAlarm>) {
    counters.get(this.sql)?.add(ALARM, 1);
    return setAlarm.apply(this, values);
  };
}
