import { decodeBody, type RecentBatch, type ReportUnreadable, reportEntries, UnreadableItem } from "../logs/batch.ts";
import { logId } from "../logs/entry-view.ts";
import type { BatchMatcher, LineMatch } from "../logs/query/batch-matcher.ts";
import { piecesOf } from "../logs/query/lines.ts";
import { detachBuffer } from "../platform/isolate-memory.ts";
import { TAIL_LIMITS } from "./limits.ts";

/** From stored lines to entries, and from entries to the frames of a tail. */

/**
 * Lines of one project with their `seq` and receipt time, independent of the tier. Index `i` counts lines of `body`
 * from 0.
 */
export interface SeqLines {
  /** Canonical NDJSON; see `../logs/batch.ts`. */
  body: Uint8Array;
  seqAt(index: number): number;
  /** Epoch milliseconds. */
  receivedAtOf(index: number): number;
  /** Whether the entry was committed by the snapshot's commit. Absent if all were. */
  isVisible?(index: number): boolean;
  /** Frees the body. Call when the lines are no longer needed. */
  close?(): void;
}

/** An entry as clients receive it: `text` is the JSON of a `StoredEntry`. */
export interface SeqEntry {
  seq: number;
  text: string;
}

/** Entries with `after < seq <= until`. */
export interface SeqRange {
  after: number;
  until: number;
}

/** Runs `entrySteps` without pauses. */
export function entriesOf(...args: Parameters<typeof entrySteps>): SeqEntry[] {
  const steps = entrySteps(...args);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Runs `entrySteps` with a pause at each step. */
export async function pacedEntriesOf(
  pause: () => Promise<void>,
  ...args: Parameters<typeof entrySteps>
): Promise<SeqEntry[]> {
  const steps = entrySteps(...args);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    await pause();
  }
}

/**
 * Returns the entries of a range that pass a filter, in order of `seq`. A stored line is already the JSON of an entry,
 * so it is completed as text. Yields when the matcher's meter signals that a pause is due.
 * @param report receives damaged lines of stored data; every line is then parsed, and a line that is not an entry is
 * left out. `null` for lines that were just validated by ingest
 */
export function* entrySteps(
  units: readonly SeqLines[],
  matcher: BatchMatcher,
  projectId: string,
  { after, until }: SeqRange,
  report: ReportUnreadable | null,
): Generator<void, SeqEntry[]> {
  const entries: SeqEntry[] = [];
  let isSorted = true;
  let last = after;
  let receivedAt = Number.NaN;
  let received = "";
  for (const unit of units) {
    const isWanted = (_timestamp: number, index: number) => {
      const seq = unit.seqAt(index);
      return seq > after && seq <= until && unit.isVisible?.(index) !== false;
    };
    const damaged: number[] = [];
    const leaveOut = (index: number) => {
      if (report === null) throw new RangeError("A committed line is not an entry.");
      const seq = unit.seqAt(index);
      if (seq > after && seq <= until) damaged.push(seq);
    };
    const take = (match: LineMatch) => {
      const { index, raw, start, end } = match;
      if (report !== null && !matcher.reads && !matcher.isEntry(match)) return leaveOut(index);
      const seq = unit.seqAt(index);
      const at = unit.receivedAtOf(index);
      if (at !== receivedAt) {
        receivedAt = at;
        received = new Date(at).toISOString();
      }
      if (seq < last) isSorted = false;
      last = seq;
      // Take the line without its braces. Every line has members, so the commas are right.
      const members = raw.toString("utf8", start + 1, end - 1);
      const id = logId(projectId, seq);
      const text = `{"id":"${id}",${members},"seq":${seq},"projectId":"${projectId}","receivedAt":"${received}"}`;
      entries.push({ seq, text });
    };
    const places = {
      projectId,
      seqAt: (index: number) => unit.seqAt(index),
      receivedAtOf: (index: number) => unit.receivedAtOf(index),
    };
    yield* matcher.steps(piecesOf(unit.body), isWanted, take, leaveOut, places);
    if (report !== null) reportEntries(report, projectId, damaged);
  }
  // Only parts of one cold range overlap each other.
  return isSorted ? entries : entries.sort((a, b) => a.seq - b.seq);
}

export function linesOfBatches(batches: readonly RecentBatch[], report: ReportUnreadable): SeqLines[] {
  return batches.flatMap((batch) => {
    try {
      return [linesOfBatch(batch)];
    } catch {
      report(new UnreadableItem(`Batch ${batch.commit} does not decode.`), batch.count);
      return [];
    }
  });
}

export function linesOfBatch({
  firstSeq,
  receivedAt,
  encoding,
  body,
}: Pick<RecentBatch, "firstSeq" | "receivedAt" | "encoding" | "body">): SeqLines {
  const lines = decodeBody(encoding, body);
  return {
    body: lines,
    seqAt: (index) => firstSeq + index,
    receivedAtOf: () => receivedAt,
    // A body that is not compressed is the batch's.
    close: () => {
      if (lines !== body) detachBuffer(lines);
    },
  };
}

/** One `logs` message, ready to be sent. */
export interface Frame {
  text: string;
  entries: number;
  /** Bytes of the text in UTF-8, as a socket holds it. */
  bytes: number;
  /** The `seq` of the frame's last entry. */
  through: number;
}

/** Frames that contain every matching entry up to `through`. */
export interface FrameList {
  frames: Frame[];
  through: number;
}

/** Bounds for all frames of one list together. Entries beyond them are left for the next list. */
export interface FrameLimits {
  entries: number;
  /** The bound may be exceeded by one entry. */
  characters: number;
}

const NO_BOUND: FrameLimits = { entries: Number.POSITIVE_INFINITY, characters: Number.POSITIVE_INFINITY };

/**
 * Cuts entries into frames.
 * @param until the `seq` up to which the entries are complete
 */
export function framesOf(entries: readonly SeqEntry[], until: number, limits: FrameLimits = NO_BOUND): FrameList {
  const taken = entries.slice(0, countWithin(entries, limits));
  const frames: Frame[] = [];
  let texts: string[] = [];
  let characters = 0;
  let through = 0;
  const end = () => {
    if (texts.length === 0) return;
    const text = `{"type":"logs","entries":[${texts.join(",")}]}`;
    frames.push({ text, entries: texts.length, bytes: Buffer.byteLength(text), through });
    texts = [];
    characters = 0;
  };
  for (const { seq, text } of taken) {
    if (texts.length === TAIL_LIMITS.frameEntries || characters + text.length > TAIL_LIMITS.frameCharacters) end();
    texts.push(text);
    characters += text.length;
    through = seq;
  }
  end();
  return { frames, through: taken.length < entries.length ? through : until };
}

function countWithin(entries: readonly SeqEntry[], limits: FrameLimits): number {
  let [count, characters] = [0, 0];
  for (const { text } of entries) {
    if (count >= limits.entries || characters >= limits.characters) break;
    count++;
    characters += text.length;
  }
  return count;
}

export function caughtUpText(seq: number): string {
  return JSON.stringify({ type: "caught-up", seq });
}

export function errorText(code: string): string {
  return JSON.stringify({ type: "error", code });
}
