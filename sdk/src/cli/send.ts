import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type Detail, formatRefusal, isTemporary, post } from "./api.ts";
import { Batches, bodyOf, type InputPosition, type OutgoingEntry } from "./batches.ts";
import type { SendCommand } from "./commands.ts";
import { EXIT, Failure, reasonOf } from "./failure.ts";
import { type Io, notice, writeLine } from "./io.ts";
import { jsonLine } from "./pretty.ts";
import { record } from "./record.ts";
import { type Attempt, retryFor } from "./retry.ts";
import { split } from "./split.ts";

const TIMEOUT_MS = 30_000;
/** Bytes of a body from which compression saves more than it costs. */
const GZIP_FROM = 1024;
/** Number of rejected entries that are reported individually. */
const MAX_NAMED = 1000;

const compressed = promisify(gzip);

export async function send(io: Io, command: SendCommand): Promise<number> {
  const sender = new Sender(io, command);
  const { message, files } = command;
  if (message !== null) {
    await sender.deliver([{ bytes: sender.entryOf(message), file: null, line: 1 }]);
    return sender.report();
  }
  if (files.length === 0 && io.stdin.isTTY) notice(io, "Reading from the terminal: Ctrl-D ends the input.");
  // Stops reading after a failure, because input that stays open would delay its report.
  const failed = new AbortController();
  const cut = AbortSignal.any([io.stop, failed.signal]);
  const batches = new Batches(
    (batch) => sender.deliver(batch),
    () => failed.abort(),
  );
  let wasCut = false;
  try {
    for (const file of files.length === 0 ? ["-"] : files) {
      if (cut.aborted) break;
      const source = file === "-" ? io.stdin : createReadStream(file);
      wasCut = !(await sender.read(source, file === "-" ? null : file, batches, cut)) && file !== "-";
    }
    await batches.end();
  } catch (error) {
    sender.report();
    throw error;
  }
  if (wasCut) notice(io, "Stopped before the end of the input.");
  return Math.max(sender.report(), wasCut ? EXIT.incomplete : EXIT.ok);
}

/** The service's answer to a batch. */
interface Receipt {
  accepted: number;
  lastSeq: number | null;
  rejected: readonly Detail[];
  rejectedCount: number;
  /** The answer's `data`; `null` if no entry was stored. */
  data: Record<string, unknown> | null;
}

class Sender {
  readonly #io: Io;
  readonly #command: SendCommand;
  #stored = 0;
  #rejected = 0;
  #named = 0;
  #lastSeq: number | null = null;

  constructor(io: Io, command: SendCommand) {
    this.#io = io;
    this.#command = command;
  }

  /** Creates an entry from a text, with the current time. */
  entryOf(message: string): Uint8Array {
    const timestamp = new Date(this.#io.now()).toISOString();
    return Buffer.from(JSON.stringify({ timestamp, ...this.#command.members, message }));
  }

  /** Reads one input. @returns `false` if it was stopped before its end */
  async read(source: Readable, file: string | null, batches: Batches, cut: AbortSignal): Promise<boolean> {
    const destroy = () => source.destroy();
    cut.addEventListener("abort", destroy);
    const decoder = new TextDecoder();
    try {
      for await (const { bytes, line, fault } of split(source, this.#command.text)) {
        if (fault !== null) this.#reject({ file, line }, "INVALID_ENTRY", fault);
        else await batches.add({ bytes: this.#command.text ? this.entryOf(decoder.decode(bytes)) : bytes, file, line });
      }
      return !cut.aborted;
    } catch (error) {
      if (error instanceof Failure) throw error;
      if (cut.aborted) return false;
      throw new Failure(`${file ?? "Standard input"} could not be read: ${reasonOf(error)}`);
    } finally {
      cut.removeEventListener("abort", destroy);
    }
  }

  /** Sends a batch, with retries, until it is stored. @throws Failure if the service refuses it or the retries end */
  async deliver(batch: readonly OutgoingEntry[]): Promise<void> {
    let receipt: Receipt | null;
    try {
      receipt = await this.#request(batch);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const from = this.#nameOf(batch[0]);
      throw new Failure(`${error.message}\nStopped: nothing from ${from} on was acknowledged.`, error.code);
    }
    if (receipt === null) {
      const half = batch.length >> 1;
      await this.deliver(batch.slice(0, half));
      await this.deliver(batch.slice(half));
      return;
    }
    this.#stored += receipt.accepted;
    this.#lastSeq = receipt.lastSeq ?? this.#lastSeq;
    for (const { index, code, message } of receipt.rejected) {
      const position = batch[Number(index)];
      if (position) this.#reject(position, String(code), String(message));
    }
    const unnamed = receipt.rejectedCount - receipt.rejected.length;
    if (unnamed > 0) {
      this.#rejected += unnamed;
      const range = `${this.#nameOf(batch[0])} to ${this.#nameOf(batch.at(-1))}`;
      notice(this.#io, `${range}: ${unnamed} more rejected; the service does not name them`);
    }
    if (this.#command.json && receipt.data) {
      const { accepted, firstSeq, lastSeq, duplicate } = receipt.data;
      const lines = { firstLine: batch[0]?.line, lastLine: batch.at(-1)?.line };
      await writeLine(this.#io, jsonLine({ accepted, firstSeq, lastSeq, duplicate, ...lines }));
    }
  }

  /** Sends one request. @returns `null` if the batch is too large and must be split */
  async #request(batch: readonly OutgoingEntry[]): Promise<Receipt | null> {
    const { service, project, retryForMs } = this.#command;
    const plain = bodyOf(batch);
    const isLarge = plain.length >= GZIP_FROM;
    const body = isLarge ? new Uint8Array(await compressed(plain)) : plain;
    const headers = {
      "Content-Type": "application/x-ndjson",
      // The same key for each attempt, so that the service stores the batch once.
      "Idempotency-Key": randomUUID(),
      ...(isLarge ? { "Content-Encoding": "gzip" } : {}),
    };
    const path = `/logger/${encodeURIComponent(project)}/log`;
    return retryFor(this.#io, retryForMs, async (): Promise<Attempt<Receipt | null>> => {
      const answer = await post(service, { path, body, headers, timeoutMs: TIMEOUT_MS });
      if (answer.kind === "lost") return { kind: "again", why: answer.why, wait: null };
      if (answer.kind === "ok") return { kind: "done", value: receiptOf(answer.data) };
      const { refusal } = answer;
      const { status, code, message, details } = refusal;
      if (isTemporary(refusal)) return { kind: "again", why: formatRefusal(refusal), wait: refusal.wait };
      if (status === 413 && batch.length > 1) return { kind: "done", value: null };
      const named = status === 413 ? [{ index: 0, code, message }] : details.filter(({ index }) => index !== undefined);
      if ((status !== 400 && status !== 413) || named.length === 0) throw new Failure(formatRefusal(refusal));
      const none = { accepted: 0, lastSeq: null, data: null, rejectedCount: batch.length };
      return { kind: "done", value: { ...none, rejected: named } };
    });
  }

  #reject(position: InputPosition, code: string, message: string): void {
    this.#rejected++;
    if (this.#named === MAX_NAMED) notice(this.#io, "Further rejected entries are only counted.");
    if (this.#named++ < MAX_NAMED) notice(this.#io, `${this.#nameOf(position)}: ${code}: ${message}`);
  }

  #nameOf(position: InputPosition | undefined): string {
    if (this.#command.message !== null) return "the entry";
    return position?.file ? `${position.file}:${position.line}` : `line ${position?.line}`;
  }

  /** Prints the totals. @returns the exit code */
  report(): number {
    const last = this.#lastSeq === null ? "" : `, the last one as seq ${this.#lastSeq}`;
    const rejected = this.#rejected === 0 ? "" : `; ${this.#rejected} rejected`;
    notice(this.#io, `${this.#stored} ${this.#stored === 1 ? "entry" : "entries"} stored${last}${rejected}.`);
    return this.#rejected === 0 ? EXIT.ok : EXIT.incomplete;
  }
}

function receiptOf(value: unknown): Receipt {
  const data = record(value);
  const rejected = Array.isArray(data?.rejected) ? data.rejected.map((one): Detail => record(one) ?? {}) : [];
  const count = Number(data?.rejectedCount ?? rejected.length);
  return {
    accepted: Number(data?.accepted ?? 0),
    lastSeq: typeof data?.lastSeq === "number" ? data.lastSeq : null,
    rejected,
    rejectedCount: count,
    data,
  };
}
