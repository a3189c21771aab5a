import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { EMAIL_SCHEMA, USER_SCHEMA } from "../../src/accounts/schema.ts";
import { SEARCH_COVER_SCHEMA } from "../../src/limits/search-cover.ts";
import { type SchemaSteps, VERSION_TABLE } from "../../src/platform/sql.ts";
import { WORKSPACE_SCHEMA } from "../../src/workspace/schema.ts";
import { ROOT } from "./paths.ts";

/**
 * The tables of the storage documents, from the DDL: columns and keys from SQLite after all steps, texts from the
 * comments. A comment documents the column after it. `Row:` and `Written by:` document the table; they come first
 * after its opening bracket, and each ends with the first line that ends with a full stop.
 */

interface Section {
  /** File in `docs/`. */
  document: string;
  /** In the markers `<!-- tables:<name> -->` and `<!-- /tables:<name> -->`. */
  name: string;
  statements: readonly string[];
  /** Tables that another place describes, with a link to it; `null`: left out. */
  elsewhere?: Record<string, string | null>;
  /** The one table to describe with a row per column. */
  columnsOf?: string;
}

interface TableText {
  row: string;
  writtenBy: string;
  columns: Map<string, string>;
}

const ACCOUNTS = "[storage-accounts.md](storage-accounts.md)";
const STORAGE = "[storage.md](storage.md)";
const BELOW = "[below](#a-segment)";
const COUNTERS = { rate_counters: STORAGE, rate_seconds: STORAGE };

function sections(): Section[] {
  const directory = migrations("migrations");
  const cold = migrations("migrations-cold");
  const mail = { address_tokens: ACCOUNTS, outbox: ACCOUNTS };
  const others = { users: null, workspaces: null, memberships: null, violations: null, segments: null };
  const oauth = { oauth_identities: null, oauth_flows: null, oauth_exchanges: null, oauth_link_codes: null };
  return [
    {
      document: "storage.md",
      name: "workspace",
      statements: objectStatements(WORKSPACE_SCHEMA),
      elsewhere: { promised_mails: ACCOUNTS, notices: ACCOUNTS },
    },
    { document: "storage.md", name: "directory", statements: directory, elsewhere: { ...mail, segments: BELOW } },
    { document: "storage.md", name: "cold", statements: cold, elsewhere: { segments: BELOW } },
    { document: "storage.md", name: "segment", statements: cold, columnsOf: "segments" },
    {
      document: "storage-accounts.md",
      name: "user",
      statements: objectStatements(USER_SCHEMA),
      elsewhere: { ...COUNTERS, schema_version: STORAGE },
    },
    {
      document: "storage-accounts.md",
      name: "address",
      statements: [...EMAIL_SCHEMA.flat(), SEARCH_COVER_SCHEMA],
      elsewhere: { promised_mails: null, notices: null },
    },
    { document: "storage-accounts.md", name: "mail", statements: directory, elsewhere: { ...others, ...oauth } },
  ];
}

/** Returns a document with the text between the markers of its sections replaced. Throws if a marker is missing. */
export function withTables(document: string, text: string): string {
  return sections()
    .filter((section) => section.document === document)
    .reduce((result, section) => {
      const [begin, end] = [`<!-- tables:${section.name} -->`, `<!-- /tables:${section.name} -->`];
      const [from, to] = [result.indexOf(begin), result.indexOf(end)];
      if (from < 0 || to < from) throw new Error(`${document} has no ${begin} ... ${end}.`);
      return `${result.slice(0, from + begin.length)}\n\n${markdown(section)}\n\n${result.slice(to)}`;
    }, text);
}

/** Returns the described tables without a `Row:` comment. */
export function tablesWithoutText(): string[] {
  return sections().flatMap(({ name, statements, elsewhere = {} }) => {
    const tables = [...textsOf(statements)].filter(([table]) => elsewhere[table] === undefined);
    return tables.filter(([, { row }]) => row === "").map(([table]) => `${name}: ${table}`);
  });
}

export const DOCUMENTS = ["storage.md", "storage-accounts.md"];

export function documentPath(document: string): string {
  return path.join(ROOT, "docs", document);
}

function objectStatements(steps: SchemaSteps): string[] {
  return [...steps.flat(), VERSION_TABLE];
}

function migrations(directory: string): string[] {
  const names = readdirSync(path.join(ROOT, directory)).filter((name) => name.endsWith(".sql"));
  return names.sort().map((name) => readFileSync(path.join(ROOT, directory, name), "utf8"));
}

function markdown(section: Section): string {
  const { statements, elsewhere = {}, columnsOf } = section;
  const db = new DatabaseSync(":memory:");
  for (const statement of statements) db.exec(statement);
  const texts = textsOf(statements);
  if (columnsOf !== undefined) return columnTable(db, columnsOf, textOf(texts, columnsOf));
  const names = db
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid")
    .all()
    .map(({ name }) => String(name))
    .filter((name) => elsewhere[name] !== null);
  const hasWriters = names.some((name) => elsewhere[name] === undefined && textOf(texts, name).writtenBy !== "");
  const rows = names.map((name) => {
    const { row, writtenBy, columns } = textOf(texts, name);
    const link = elsewhere[name];
    if (link != null) return [`\`${name}\``, `see ${link}`, "", ...(hasWriters ? [""] : [])];
    return [`\`${name}\``, row, columnsCell(db, name, columns), ...(hasWriters ? [writtenBy] : [])];
  });
  const head = ["Table", "Row", "Columns", ...(hasWriters ? ["Written by"] : [])];
  return tableOf([head, head.map(() => "---"), ...rows]);
}

function columnTable(db: DatabaseSync, table: string, { row, columns }: TableText): string {
  const rows = columnsIn(db, table).map(({ name }) => [`\`${name}\``, columns.get(name) ?? ""]);
  return `A row: ${row}. ${keysOf(db, table)}.\n\n${tableOf([["Column", "Content"], ["---", "---"], ...rows])}`;
}

function tableOf(rows: readonly string[][]): string {
  return rows.map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`).join("\n");
}

function columnsCell(db: DatabaseSync, table: string, texts: ReadonlyMap<string, string>): string {
  const columns = columnsIn(db, table).map(({ name, isNullable }) => {
    const text = texts.get(name) ?? "";
    const saysNull = /\bnull\b/i.test(text);
    return `\`${name}\`${isNullable && !saysNull ? " or null" : ""}${text === "" ? "" : `: ${text}`}`;
  });
  const keys = keysOf(db, table);
  return columns.join("; ") + (keys === "" ? "" : `. ${keys}`);
}

/** The columns of a table, except `one`, which every table of one row has. */
function columnsIn(db: DatabaseSync, table: string): { name: string; key: number; isNullable: boolean }[] {
  const columns = db.prepare(`PRAGMA table_info(${table})`).all();
  return columns
    .map(({ name, pk, notnull }) => ({ name: String(name), key: Number(pk), isNullable: !(notnull || pk) }))
    .filter(({ name }) => name !== "one");
}

/** Key, unique columns and indexes of a table, as SQLite has them. */
function keysOf(db: DatabaseSync, table: string): string {
  const key = columnsIn(db, table)
    .filter((column) => column.key > 0)
    .sort((a, b) => a.key - b.key);
  const parts = key.length > 0 ? [`Key: ${namesOf(key)}`] : [];
  for (const index of db.prepare(`PRAGMA index_list(${table})`).all().reverse()) {
    if (index.origin === "pk") continue;
    const columns = db.prepare(`PRAGMA index_info(${index.name})`).all();
    const sql = db.prepare("SELECT sql FROM sqlite_master WHERE name = ?").get(String(index.name))?.sql;
    const where = /WHERE (.+)$/s.exec(String(sql))?.[1];
    const named = columns.map(({ name }) => ({ name: String(name) }));
    const condition = where === undefined ? "" : ` where \`${where}\``;
    parts.push(`${index.unique ? "Unique" : "Index"}: ${namesOf(named)}${condition}`);
  }
  return parts.join(". ");
}

function namesOf(columns: readonly { name: string }[]): string {
  return columns.map(({ name }) => `\`${name}\``).join(", ");
}

function textOf(texts: ReadonlyMap<string, TableText>, table: string): TableText {
  return texts.get(table) ?? { row: "", writtenBy: "", columns: new Map() };
}

const CREATE = /CREATE TABLE (?:IF NOT EXISTS )?(\w+) ?\(/;
const ALTER = /ALTER TABLE (\w+) ADD COLUMN (\w+)/;
const COLUMN = /^\s*(\w+) (?:INTEGER|TEXT|BLOB|REAL)\b/;

function textsOf(statements: readonly string[]): Map<string, TableText> {
  const tables = new Map<string, TableText>();
  let table: TableText | null = null;
  let comment: string[] = [];
  const tableNamed = (name: string): TableText => {
    const known = tables.get(name) ?? { row: "", writtenBy: "", columns: new Map() };
    tables.set(name, known);
    return known;
  };
  for (const line of statements.flatMap((statement) => [...statement.split("\n"), ";"])) {
    const text = /^\s*-- ?(.*)$/.exec(line)?.[1];
    if (text !== undefined) {
      comment.push(text);
      continue;
    }
    const created = CREATE.exec(line)?.[1];
    const [, altered, added] = ALTER.exec(line) ?? [];
    const column = COLUMN.exec(line)?.[1];
    if (created !== undefined) table = tableNamed(created);
    else if (altered !== undefined && added !== undefined) addColumn(tableNamed(altered), added, comment);
    else if (table !== null && column !== undefined) addColumn(table, column, comment);
    comment = [];
  }
  return tables;
}

function addColumn(table: TableText, column: string, comment: readonly string[]): void {
  const lines = [...comment];
  const row = takeText(lines, "Row: ");
  const writtenBy = takeText(lines, "Written by: ");
  if (row !== null) table.row = row;
  if (writtenBy !== null) table.writtenBy = writtenBy;
  if (lines.length > 0) table.columns.set(column, phrase(lines.join(" ")));
}

/** Removes the text that begins with a word from the lines; `null` if the first line does not. */
function takeText(lines: string[], begin: string): string | null {
  if (!lines[0]?.startsWith(begin)) return null;
  const end = lines.findIndex((line) => line.endsWith("."));
  const text = lines.splice(0, end < 0 ? lines.length : end + 1).join(" ");
  return phrase(text.slice(begin.length));
}

/** Returns a comment as a phrase in a cell: without the full stop, in lower case, with links to decisions. */
function phrase(text: string): string {
  const begin = /^[A-Z][a-z ]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
  return begin.replace(/\.$/, "").replace(/decision (\d+)/g, (_, number: string) => {
    const name = readdirSync(path.join(ROOT, "docs/decisions")).find((each) =>
      each.startsWith(number.padStart(4, "0")),
    );
    return `[decision ${number}](decisions/${name})`;
  });
}
