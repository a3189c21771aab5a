import { createHash } from "node:crypto";
import { isOwnMember } from "../query/data-path.ts";
import { columnName, type DataColumn, type DataType, isOwnColumn, LEADING_COLUMNS, schemaOf } from "./columns.ts";
import type { FileMeta } from "./parquet/metadata.ts";
import { MalformedFile } from "./parquet/thrift.ts";

/** The properties in a segment file's metadata. */

/** Rises if files of before can no longer be read by the same rules. */
export const FORMAT_VERSION = 1;
/** Rises if equal lines give other bytes. */
export const ENCODER_VERSION = 5;

export const PROPERTY_PREFIX = "taffrail.";

/** Consecutive rows whose lines have a hash of their own. */
export interface Section {
  rows: number;
  /** SHA-256 of the lines, each with a line feed. Hexadecimal. */
  sha256: string;
}

export interface SegmentProperties {
  projectId: string;
  firstSeq: number;
  lastSeq: number;
  count: number;
  /** SHA-256 of the lines, each with a line feed; with several sections `hashOfSections`. Hexadecimal. */
  linesSha256: string;
  /** One section for each row group; a single one for a file that was not merged. */
  sections: readonly Section[];
  /** Names of the segments that this file replaces; empty if it was not merged. */
  replaces: readonly string[];
  columns: readonly DataColumn[];
  /** Version of the encoder. */
  encoder: number;
}

/**
 * Returns the hash of lines that were hashed in sections: SHA-256 of the hashes of the sections, each in hexadecimal with a
 * line feed. A merge copies rows without restoring their lines, and copies their hashes likewise.
 */
export function hashOfSections(sections: readonly Section[]): string {
  const [first] = sections;
  if (first !== undefined && sections.length === 1) return first.sha256;
  const hashes = sections.map(({ sha256 }) => `${sha256}\n`).join("");
  return createHash("sha256").update(hashes).digest("hex");
}

export function propertiesOf(
  properties: Omit<SegmentProperties, "sections" | "replaces"> & Partial<SegmentProperties>,
): Map<string, string> {
  const {
    projectId,
    firstSeq,
    lastSeq,
    count,
    linesSha256,
    columns,
    encoder,
    sections = [],
    replaces = [],
  } = properties;
  const named = {
    format: FORMAT_VERSION,
    encoder,
    project: projectId,
    firstSeq,
    lastSeq,
    count,
    sha256: linesSha256,
    // A reader gets the paths of `data` without parsing names.
    columns: JSON.stringify(columns.map((column) => [isOwnColumn(column) ? OWN : column.type, ...column.path])),
    ...(sections.length > 1 && { sections: JSON.stringify(sections.map(({ rows, sha256 }) => [rows, sha256])) }),
    ...(replaces.length > 0 && { replaces: JSON.stringify(replaces) }),
  };
  return new Map(Object.entries(named).map(([name, value]) => [PROPERTY_PREFIX + name, String(value)]));
}

/** @throws MalformedFile if the file is not a segment of a version that this one reads */
export function readProperties({ properties, columns: schema, rows }: FileMeta): SegmentProperties {
  const text = (name: string): string => {
    const value = properties.get(PROPERTY_PREFIX + name);
    if (value === undefined) throw new MalformedFile("The file is not a segment.");
    return value;
  };
  const number = (name: string): number => {
    const value = Number(text(name));
    if (!Number.isSafeInteger(value) || value < 0) throw new MalformedFile("A property has another form.");
    return value;
  };
  if (number("format") !== FORMAT_VERSION) throw new MalformedFile("The file is of another version.");
  const columns = readColumns(text("columns"));
  const expected = schemaOf(columns);
  const isAsExpected = expected.every(({ name, type, meaning, isRequired }, index) => {
    const own = schema[index];
    return own?.name === name && own.type === type && own.meaning === meaning && own.isRequired === isRequired;
  });
  if (!isAsExpected || expected.length !== schema.length) throw new MalformedFile("The file has other columns.");
  const count = number("count");
  if (count !== rows) throw new MalformedFile("The file has other entries.");
  const linesSha256 = text("sha256");
  return {
    projectId: text("project"),
    firstSeq: number("firstSeq"),
    lastSeq: number("lastSeq"),
    count,
    linesSha256,
    sections: readSections(properties.get(`${PROPERTY_PREFIX}sections`), { rows: count, sha256: linesSha256 }),
    replaces: readList(properties.get(`${PROPERTY_PREFIX}replaces`) ?? "[]").filter((name) => typeof name === "string"),
    columns,
    encoder: number("encoder"),
  };
}

/** In place of a type: the strings of an own member. */
const OWN = "own";
const TYPES: readonly DataType[] = ["text", "integer", "number", "boolean"];

function readList(text: string): unknown[] {
  let listed: unknown;
  try {
    listed = JSON.parse(text);
  } catch (error) {
    throw new MalformedFile("A list of the metadata is not JSON.", { cause: error });
  }
  if (!Array.isArray(listed)) throw new MalformedFile("A list of the metadata has another form.");
  return listed;
}

function readSections(text: string | undefined, whole: Section): Section[] {
  if (text === undefined) return [whole];
  const sections = readList(text).map((item): Section => {
    const [rows, sha256]: unknown[] = Array.isArray(item) ? item : [];
    if (typeof rows !== "number" || typeof sha256 !== "string") throw new MalformedFile("A section has another form.");
    return { rows, sha256 };
  });
  const isWhole = sections.reduce((sum, { rows }) => sum + rows, 0) === whole.rows;
  if (!isWhole || hashOfSections(sections) !== whole.sha256) throw new MalformedFile("The sections are incomplete.");
  return sections;
}

function readColumns(text: string): DataColumn[] {
  const named = new Set<string>();
  return readList(text).map((item: unknown) => {
    const names: unknown[] = Array.isArray(item) ? item : [];
    const type = TYPES.find((known) => known === names[0]);
    const path = names.slice(1).filter((name) => typeof name === "string");
    const [own = ""] = path;
    if (names[0] === OWN && names.length === 2 && isOwnMember(own)) return { name: own, path, type: "text" };
    if (type === undefined || path.length === 0 || path.length !== names.length - 1) {
      throw new MalformedFile("The list of columns has another form.");
    }
    const main = columnName(path, null);
    const name = named.has(main) ? columnName(path, type) : main;
    named.add(main);
    return { name, path, type };
  });
}

/** Number of columns before those of `data`. */
export const FIRST_DATA_COLUMN = LEADING_COLUMNS.length;
