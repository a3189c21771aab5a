import { createHash } from "node:crypto";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { EXIT, Failure, reasonOf, usage } from "./failure.ts";
import type { Io } from "./io.ts";
import { type Manifest, parseManifest } from "./manifest.ts";
import { record } from "./record.ts";

/** Where the responses of an export go. */
export interface ExportTarget {
  /** Everything up to this `seq` is there: the next request continues after it. */
  through: number;
  /** Bytes received. */
  readonly received: number;
  /** Entries so far; `null` if they are not counted on the way. */
  readonly entries: number | null;
  /** The file that has what was received if the export is not finished; `null` otherwise. */
  readonly kept: string | null;
  /** Begins a response. */
  begin(): Promise<void>;
  write(chunk: Uint8Array): Promise<void>;
  /** Ends a response, and verifies it. @returns `null` if it has no manifest. @throws Failure if it is damaged */
  end(): Promise<Manifest | null>;
  finish(manifests: readonly Manifest[]): Promise<Finished>;
  close(): Promise<void>;
}

/** What an export has written. */
export interface Finished {
  files: readonly string[];
  count: number;
  /** `null` without entries. */
  firstSeq: number | null;
  lastSeq: number | null;
}

const LINE_BREAK = 10;
const MANIFEST_START = Buffer.from('{"manifest":');

/** Writes entries as lines to a file or to standard output. Holds a part of a line until the rest arrives. */
export class NdjsonTarget implements ExportTarget {
  readonly #io: Io;
  readonly #out: string | null;
  readonly #afterSeq: number;
  readonly #all = createHash("sha256");
  #response = createHash("sha256");
  #file: FileHandle | null = null;
  #rest = Buffer.alloc(0);
  #manifest: Manifest | null = null;
  #responseEntries = 0;
  #firstSeq: number | null = null;
  #lastSeq: number | null = null;
  through: number;
  received = 0;
  entries = 0;

  constructor(io: Io, out: string | null, afterSeq: number) {
    this.#io = io;
    this.#out = out;
    this.#afterSeq = afterSeq;
    this.through = afterSeq;
  }

  get kept(): string | null {
    return this.#out === null ? null : partialOf(this.#out);
  }

  async begin(): Promise<void> {
    if (this.#out !== null) this.#file ??= await created(partialOf(this.#out));
    this.#response = createHash("sha256");
    this.#rest = Buffer.alloc(0);
    this.#manifest = null;
    this.#responseEntries = 0;
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.received += chunk.length;
    const end = chunk.lastIndexOf(LINE_BREAK) + 1;
    if (end === 0) {
      this.#rest = Buffer.concat([this.#rest, chunk]);
      return;
    }
    const lines = Buffer.concat([this.#rest, chunk.subarray(0, end)]);
    this.#rest = Buffer.from(chunk.subarray(end));
    const last = lines.lastIndexOf(LINE_BREAK, lines.length - 2) + 1;
    const isManifest = lines.subarray(last, last + MANIFEST_START.length).equals(MANIFEST_START);
    const entries = isManifest ? lines.subarray(0, last) : lines;
    if (isManifest) this.#manifest = manifestIn(lines.toString("utf8", last));
    if (entries.length > 0) await this.#add(entries);
  }

  async #add(lines: Buffer): Promise<void> {
    const last = lines.lastIndexOf(LINE_BREAK, lines.length - 2) + 1;
    const seq = seqOf(lines.toString("utf8", last));
    if (seq === null || seq <= this.through) throw damaged("An entry is out of order");
    await this.#put(lines);
    this.#response.update(lines);
    this.#all.update(lines);
    let count = 0;
    for (let at = lines.indexOf(LINE_BREAK); at >= 0; at = lines.indexOf(LINE_BREAK, at + 1)) count++;
    this.#responseEntries += count;
    this.entries += count;
    this.#firstSeq ??= seqOf(lines.toString("utf8", 0, lines.indexOf(LINE_BREAK)));
    this.#lastSeq = seq;
    this.through = seq;
  }

  async #put(bytes: Buffer): Promise<void> {
    if (this.#file !== null) return writeAll(this.#file, bytes);
    const { stdout, stop } = this.#io;
    if (stdout.write(bytes) || stdout.destroyed) return;
    await once(stdout, "drain", { signal: stop }).catch(() => {});
  }

  async end(): Promise<Manifest | null> {
    const manifest = this.#manifest;
    if (manifest === null) return null;
    if (manifest.count !== this.#responseEntries) throw damaged("The number of entries differs from the manifest");
    if (manifest.sha256 !== this.#response.digest("hex")) throw damaged("The SHA-256 differs from the manifest");
    this.through = manifest.through;
    return manifest;
  }

  /** Ends the file with a manifest of all responses together. */
  async finish(manifests: readonly Manifest[]): Promise<Finished> {
    const totals = { count: this.entries, firstSeq: this.#firstSeq, lastSeq: this.#lastSeq };
    const manifest = {
      ...manifests.at(-1),
      afterSeq: this.#afterSeq,
      ...totals,
      complete: manifests.every((each) => each.missing === 0),
      unreadable: manifests.reduce((sum, { unreadable }) => sum + unreadable, 0),
      missing: manifests.reduce((sum, { missing }) => sum + missing, 0),
      sha256: this.#all.digest("hex"),
    };
    await this.#put(Buffer.from(`${JSON.stringify({ manifest })}\n`));
    if (this.#out === null) return { ...totals, files: [] };
    await this.close();
    await rename(partialOf(this.#out), this.#out);
    return { ...totals, files: [this.#out] };
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = null;
  }
}

/** Bytes at the end of a Parquet file: the length of its metadata, and `PAR1`. */
const PARQUET_END = 8;

/** Writes each response as a file. A file that was not received completely is replaced by the next attempt. */
export class ParquetTarget implements ExportTarget {
  readonly #out: string;
  readonly #files: string[] = [];
  #file: FileHandle | null = null;
  #isPartial = false;
  #size = 0;
  through: number;
  received = 0;
  readonly entries = null;
  readonly kept = null;

  constructor(out: string, afterSeq: number) {
    this.#out = out;
    this.through = afterSeq;
  }

  async begin(): Promise<void> {
    await this.close();
    this.#file = await created(partialOf(this.#name));
    this.#isPartial = true;
    this.#size = 0;
  }

  async write(chunk: Uint8Array): Promise<void> {
    if (this.#file === null) throw new Error("No response has begun.");
    await writeAll(this.#file, chunk);
    this.#size += chunk.length;
    this.received += chunk.length;
  }

  async end(): Promise<Manifest | null> {
    const manifest = await this.#verified();
    if (manifest === null) return null;
    await this.#closeFile();
    await rename(partialOf(this.#name), this.#name);
    this.#isPartial = false;
    this.#files.push(this.#name);
    this.through = manifest.through;
    return manifest;
  }

  async finish(manifests: readonly Manifest[]): Promise<Finished> {
    return {
      files: this.#files,
      count: manifests.reduce((sum, { count }) => sum + count, 0),
      firstSeq: manifests.find(({ firstSeq }) => firstSeq !== null)?.firstSeq ?? null,
      lastSeq: manifests.findLast(({ lastSeq }) => lastSeq !== null)?.lastSeq ?? null,
    };
  }

  /** Deletes what was received of an incomplete file, which no reader could open. */
  async close(): Promise<void> {
    await this.#closeFile();
    if (this.#isPartial) await rm(partialOf(this.#name), { force: true });
    this.#isPartial = false;
  }

  async #closeFile(): Promise<void> {
    await this.#file?.close();
    this.#file = null;
  }

  /** `logs.parquet`, then `logs-2.parquet` and so on. */
  get #name(): string {
    const number = this.#files.length + 1;
    if (number === 1) return this.#out;
    const { dir, name, ext } = path.parse(this.#out);
    return path.join(dir, `${name}-${number}${ext}`);
  }

  async #verified(): Promise<Manifest | null> {
    const end = await this.#read(Math.max(0, this.#size - PARQUET_END), PARQUET_END);
    if (end.toString("latin1", 4) !== "PAR1") return null;
    const footer = end.readUInt32LE(0) + PARQUET_END;
    if (footer > this.#size) throw damaged("The metadata has another length");
    const metadata = await this.#read(this.#size - footer, footer);
    const at = metadata.indexOf("taffrail.manifest");
    const start = metadata.indexOf("{", at);
    if (at < 0 || start < 0) throw damaged("The manifest is missing");
    const manifest = manifestIn(`{"manifest":${metadata.toString("utf8", start, metadata.indexOf("}", start) + 1)}}`);
    const hash = createHash("sha256");
    const data = createReadStream(partialOf(this.#name), { end: this.#size - footer - 1 });
    for await (const chunk of data) hash.update(chunk);
    if (manifest.sha256 !== hash.digest("hex")) throw damaged("The SHA-256 differs from the manifest");
    return manifest;
  }

  async #read(position: number, length: number): Promise<Buffer> {
    const buffer = Buffer.alloc(length);
    await this.#file?.read({ buffer, position });
    return buffer;
  }
}

function partialOf(file: string): string {
  return `${file}.partial`;
}

async function created(file: string): Promise<FileHandle> {
  try {
    return await open(file, "wx+");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") {
      throw usage(`${file} exists: another export has not finished it. Rename or delete it.`);
    }
    throw new Failure(`${file} could not be written: ${reasonOf(error)}`, EXIT.incomplete);
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  try {
    for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
  } catch (error) {
    throw new Failure(`The file could not be written: ${reasonOf(error)}`, EXIT.incomplete);
  }
}

function damaged(what: string): Failure {
  return new Failure(`The export is damaged: ${what}.`, EXIT.incomplete);
}

function manifestIn(line: string): Manifest {
  const manifest = parseManifest(JSON.stringify(record(parsed(line))?.manifest ?? null));
  if (manifest === null) throw damaged("The manifest cannot be read");
  return manifest;
}

function seqOf(line: string): number | null {
  const seq = record(parsed(line))?.seq;
  return typeof seq === "number" ? seq : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
