import { chaos, pause } from "./chaos.ts";

/** Messages of D1 for temporary errors: https://developers.cloudflare.com/d1/observability/debug-d1/#error-list */
const MESSAGES = [
  "D1_ERROR: Network connection lost.",
  "D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.",
  "D1_ERROR: Internal error in D1 DB storage caused object to be reset.",
  "D1_ERROR: D1 DB is overloaded. Too many requests queued.",
];

/** Methods that run a statement outside of a batch. */
type Execution = "first" | "run" | "all" | "raw";
type Execute = (this: D1PreparedStatement, ...values: unknown[]) => Promise<unknown>;

let isHooked = false;
let unharmed: Execute;
let unharmedBatch: (this: D1Database, statements: D1PreparedStatement[]) => Promise<unknown>;

/** All rows of a statement of the harness, without faults. */
export async function allUnharmed<Row>(statement: D1PreparedStatement): Promise<Row[]> {
  // SAFETY: this is D1's own `all`.
  return ((await unharmed.call(statement)) as D1Result<Row>).results;
}

/** Runs statements of the harness in one transaction, without faults. */
export async function batchUnharmed(db: D1Database, statements: D1PreparedStatement[]): Promise<void> {
  await unharmedBatch.call(db, statements);
}

/**
 * Applies the plan to every D1 call of this isolate. Patches the runtime's prototypes, so that the service gets its own
 * binding unchanged.
 */
export function hookD1(db: D1Database): void {
  if (isHooked) return;
  isHooked = true;
  const database: D1Database = Object.getPrototypeOf(db);
  const { batch } = database;
  unharmedBatch = batch;
  database.batch = function <T>(this: D1Database, statements: D1PreparedStatement[]) {
    return suffer(() => batch.call<D1Database, [D1PreparedStatement[]], Promise<D1Result<T>[]>>(this, statements));
  };
  const statement: Record<Execution, Execute> = Object.getPrototypeOf(db.prepare("SELECT 1"));
  for (const name of ["first", "run", "all", "raw"] as const) {
    const original = statement[name];
    if (name === "all") unharmed = original;
    statement[name] = function (...values) {
      return suffer(() => original.apply(this, values));
    };
  }
}

async function suffer<T>(call: () => Promise<T>): Promise<T> {
  const { before, after, delayMs } = chaos.plan.d1;
  await pause(chaos.delay(delayMs));
  if (chaos.strikes(before, "D1 failed before")) throw failure();
  const result = await call();
  if (chaos.strikes(after, "D1 failed after")) throw failure();
  return result;
}

function failure(): Error {
  return new Error(MESSAGES[chaos.delay(MESSAGES.length - 1)]);
}
