import { exists, mapRows, maybe } from "../platform/sql.ts";
import type { Role } from "./permissions.ts";

/** A member as the object stores it; the directory has the e-mail address. */
export interface Member {
  userId: string;
  role: Role;
  /** Epoch milliseconds. */
  joinedAt: number;
}

type Row = { user_id: string; role: Role; added_at: number };

export function roleOf(sql: SqlStorage, userId: string): Role | null {
  return maybe<Pick<Row, "role">>(sql, "SELECT role FROM members WHERE user_id = ?", userId)?.role ?? null;
}

export function findMember(sql: SqlStorage, userId: string): Member | null {
  const row = maybe<Row>(sql, "SELECT user_id, role, added_at FROM members WHERE user_id = ?", userId);
  return row ? fromRow(row) : null;
}

/** Members in order of joining, after the (joinedAt, userId) of `cursor`. */
export function listMembers(sql: SqlStorage, cursor: readonly [number, string], limit: number): Member[] {
  return mapRows(
    sql,
    fromRow,
    `SELECT user_id, role, added_at FROM members WHERE (added_at, user_id) > (?, ?) ORDER BY added_at, user_id LIMIT ?`,
    ...cursor,
    limit,
  );
}

export function addMember(sql: SqlStorage, { userId, role, joinedAt }: Member): void {
  sql.exec("INSERT INTO members (user_id, role, added_at) VALUES (?, ?, ?)", userId, role, joinedAt);
}

export function setRole(sql: SqlStorage, userId: string, role: Role): void {
  sql.exec("UPDATE members SET role = ? WHERE user_id = ?", role, userId);
}

export function deleteMember(sql: SqlStorage, userId: string): void {
  sql.exec("DELETE FROM members WHERE user_id = ?", userId);
}

/** Whether the workspace would have no owner without this member. */
export function isLastOwner(sql: SqlStorage, { userId, role }: Member): boolean {
  if (role !== "owner") return false;
  return !exists(sql, "SELECT 1 FROM members WHERE role = 'owner' AND user_id <> ?", userId);
}

function fromRow({ user_id, role, added_at }: Row): Member {
  return { userId: user_id, role, joinedAt: added_at };
}
