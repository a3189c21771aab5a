import type { Role } from "./caller.ts";

export function roleOf(sql: SqlStorage, userId: string): Role | null {
  const row = sql.exec("SELECT role FROM members WHERE user_id = ?", userId).toArray()[0];
  // SAFETY: the column's CHECK allows only roles.
  return row ? (row.role as Role) : null;
}
