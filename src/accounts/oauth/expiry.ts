type ExpiringTable = "oauth_flows" | "oauth_exchanges" | "oauth_link_codes";

/** Milliseconds that a row outlives its use, so that a late caller learns that it came late. */
const KEPT_AFTER_MS = 3_600_000;

/** Rows deleted with each one written: more than one, so that what is left over shrinks. */
const PURGED_AT_ONCE = 20;

/** Every write takes some of what has expired with it: no table grows, and nothing needs a timer. */
export function purgeExpired(db: D1Database, table: ExpiringTable, now: number): D1PreparedStatement {
  const key = table === "oauth_flows" ? "state_hash" : "code_hash";
  return db
    .prepare(
      `DELETE FROM ${table} WHERE ${key} IN
         (SELECT ${key} FROM ${table} WHERE expires_at < ? ORDER BY expires_at LIMIT ${PURGED_AT_ONCE})`,
    )
    .bind(now - KEPT_AFTER_MS);
}
