import { formatRefusal, isTemporary, lostText, openStream } from "./api.ts";
import type { ExportCommand } from "./commands.ts";
import { type ExportTarget, type Finished, NdjsonTarget, ParquetTarget } from "./export-targets.ts";
import { EXIT, Failure } from "./failure.ts";
import { type Io, notice, writeLine } from "./io.ts";
import { hasRest, type Manifest } from "./manifest.ts";
import { backoff } from "./retry.ts";
import { formatWait, sleep } from "./time.ts";

/**
 * Milliseconds without a byte after which a connection counts as lost. The service ends one sooner if it fails; it is silent while it
 * waits for memory, up to 240 s, and reads entries of other times.
 */
const SILENCE_MS = 300_000;
/** Milliseconds between two lines of progress. */
const PROGRESS_MS = 1000;

/** Exports the entries of a project, in as many requests as it takes. */
export async function exportLogs(io: Io, command: ExportCommand): Promise<number> {
  const { format, out, afterSeq } = command;
  const target: ExportTarget =
    format === "parquet" ? new ParquetTarget(out ?? "", afterSeq) : new NdjsonTarget(io, out, afterSeq);
  const progress = new Progress(io);
  try {
    const manifests = await allResponses(io, command, target, progress);
    progress.clear();
    if (manifests === null) return stopped(io, command, target);
    return await report(io, command, manifests, await target.finish(manifests));
  } catch (error) {
    progress.clear();
    if (error instanceof Failure && error.code === EXIT.service && target.through > command.afterSeq) {
      throw new Failure(`${error.message}\n${continuation(target)}`, error.code);
    }
    throw error;
  } finally {
    await target.close();
  }
}

/** Requests responses until one is complete. @returns their manifests; `null` if the command was stopped */
async function allResponses(
  io: Io,
  command: ExportCommand,
  target: ExportTarget,
  progress: Progress,
): Promise<Manifest[] | null> {
  const manifests: Manifest[] = [];
  let wasThere = false;
  let failures = 0;
  let failingSince: number | null = null;
  while (!io.stop.aborted) {
    const before = target.received;
    const result = await oneResponse(io, command, target, progress);
    if (result.kind === "done") {
      failures = 0;
      failingSince = null;
      wasThere = true;
      manifests.push(result.manifest);
      if (!hasRest(result.manifest)) return manifests;
      continue;
    }
    if (io.stop.aborted) break;
    // A connection that brought entries is no failure of the service.
    if (target.received > before) failingSince = null;
    if (target.received > before) failures = 0;
    wasThere ||= target.received > before || result.isAnswer;
    if (!wasThere) throw new Failure(result.why);
    failingSince ??= io.now();
    const wait = result.wait ?? backoff(failures++, io.random);
    if (io.now() + wait - failingSince > command.retryForMs) throw new Failure(result.why);
    progress.clear();
    notice(io, `${result.why} Retrying in ${formatWait(wait)}, after seq ${target.through}.`);
    await sleep(wait, io.stop);
  }
  return null;
}

type Outcome =
  | { kind: "done"; manifest: Manifest }
  | { kind: "lost"; why: string; wait: number | null; isAnswer: boolean };

async function oneResponse(io: Io, command: ExportCommand, target: ExportTarget, progress: Progress): Promise<Outcome> {
  const { service } = command;
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  const signal = AbortSignal.any([io.stop, silence.signal]);
  try {
    const answer = await openStream(service, pathOf(command, target.through), signal);
    if (answer.kind === "lost") return { kind: "lost", why: answer.why, wait: null, isAnswer: false };
    if (answer.kind === "refused") {
      const { refusal } = answer;
      if (!isTemporary(refusal)) throw new Failure(formatRefusal(refusal));
      return { kind: "lost", why: formatRefusal(refusal), wait: refusal.wait, isAnswer: true };
    }
    await target.begin();
    try {
      for await (const chunk of answer.body) {
        clearTimeout(timer);
        await target.write(chunk);
        progress.show(target);
        timer = setTimeout(() => silence.abort(), SILENCE_MS);
      }
    } catch (error) {
      if (error instanceof Failure) throw error;
      return { kind: "lost", why: lostText(service, error), wait: null, isAnswer: true };
    }
    const manifest = await target.end();
    if (manifest !== null) return { kind: "done", manifest };
    return { kind: "lost", why: "The export ended early.", wait: null, isAnswer: true };
  } finally {
    clearTimeout(timer);
  }
}

function pathOf({ project, from, to, format }: ExportCommand, afterSeq: number): string {
  const query = new URLSearchParams({ format, afterSeq: String(afterSeq) });
  if (from !== null) query.set("from", String(from));
  if (to !== null) query.set("to", String(to));
  return `/logger/${encodeURIComponent(project)}/export?${query}`;
}

function continuation(target: ExportTarget): string {
  const where = target.kept === null ? "" : ` What was received is in ${target.kept}.`;
  return `To continue: --after-seq ${target.through}.${where}`;
}

function stopped(io: Io, command: ExportCommand, target: ExportTarget): number {
  notice(io, target.through > command.afterSeq ? `Stopped. ${continuation(target)}` : "Stopped.");
  return EXIT.incomplete;
}

async function report(io: Io, command: ExportCommand, manifests: Manifest[], finished: Finished): Promise<number> {
  const { files, count, firstSeq, lastSeq } = finished;
  const unreadable = manifests.reduce((sum, each) => sum + each.unreadable, 0);
  const missing = manifests.reduce((sum, each) => sum + each.missing, 0);
  const range = count === 0 ? "" : `, seq ${firstSeq} to ${lastSeq}`;
  const where = files.length === 0 ? "" : ` to ${files.join(", ")}`;
  notice(io, `${count} ${count === 1 ? "entry" : "entries"} exported${range}${where}. Count and SHA-256 verified.`);
  if (unreadable > 0) notice(io, `${unreadable} more could not be exported, because their stored data is damaged.`);
  if (missing > 0)
    notice(io, `${missing} entries are missing: the service has lost them. Its operator can list and recover them.`);
  if (command.json && command.out !== null) {
    for (const manifest of manifests) await writeLine(io, JSON.stringify({ manifest }));
  }
  return unreadable + missing === 0 ? EXIT.ok : EXIT.incomplete;
}

/** A line on a terminal that shows how far an export is. */
class Progress {
  readonly #io: Io;
  #shownAt = Number.NEGATIVE_INFINITY;
  #width = 0;

  constructor(io: Io) {
    this.#io = io;
  }

  show({ received, entries }: ExportTarget): void {
    const now = this.#io.now();
    if (this.#io.stderr.isTTY !== true || now - this.#shownAt < PROGRESS_MS) return;
    this.#shownAt = now;
    const counted = entries === null ? "" : `${entries} entries, `;
    const text = `${counted}${(received / 1e6).toFixed(1)} MB`;
    this.#io.stderr.write(`\r${text.padEnd(this.#width)}`);
    this.#width = text.length;
  }

  clear(): void {
    if (this.#width > 0) this.#io.stderr.write(`\r${" ".repeat(this.#width)}\r`);
    this.#width = 0;
  }
}
