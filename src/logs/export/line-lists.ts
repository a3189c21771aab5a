import { ByteTimestampParser, type DecodedBatch, type SourceLine } from "../cold/format/lines.ts";
import { LineTimestampParser } from "../query/lines.ts";

/** `seq`, commit and receipt time of lines by their index. */
export interface LineOrigins {
  seqAt(index: number): number;
  commitOf(index: number): number;
  /** Epoch milliseconds. */
  receivedAtOf(index: number): number;
}

/** Entries with `after < seq <= until`. */
export interface SeqRange {
  after: number;
  until: number;
}

/**
 * Yields the lines of pieces that are in a range, a list for each piece, also an empty one. The body of a list's lines is the piece, so it is
 * valid until the next list is requested.
 * @param pieces whole lines each, in order of `seq`
 */
export function* lineLists(
  pieces: Iterable<Uint8Array>,
  origins: LineOrigins,
  { after, until }: SeqRange,
): Generator<SourceLine[]> {
  const clock = new ByteTimestampParser();
  const looseClock = new LineTimestampParser();
  let index = 0;
  for (const body of pieces) {
    const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1");
    const lines: SourceLine[] = [];
    let batch: DecodedBatch = { firstSeq: 0, count: 0, commit: Number.NaN, receivedAt: 0, body };
    for (let start = 0, end = 0; start < text.length; start = end + 1, index++) {
      end = text.indexOf("\n", start);
      if (end < 0) end = text.length;
      const seq = origins.seqAt(index);
      if (seq <= after || seq > until) continue;
      const commit = origins.commitOf(index);
      const receivedAt = origins.receivedAtOf(index);
      if (batch.commit !== commit || batch.receivedAt !== receivedAt) {
        batch = { firstSeq: seq, count: 0, commit, receivedAt, body };
      }
      batch.count++;
      const time = clock.read(body, start, end);
      const isTimed = !Number.isNaN(time);
      lines.push({ batch, seq, timestamp: isTimed ? time : looseClock.read(text, start), isTimed, start, end });
    }
    yield lines;
  }
}

/** Lists of lines in rising order of `seq`, and the `seq` before which it has no further line. */
export interface LineStream {
  firstSeq: number;
  lists: AsyncIterator<SourceLine[]>;
}

/** A stream of which a list has been read, or none yet. */
interface OpenStream {
  lists: AsyncIterator<SourceLine[]>;
  /** `seq` of the next line, or a bound below it if no list has been read. */
  next: number;
  list: readonly SourceLine[];
  at: number;
}

/**
 * Merges streams of which no two have the same `seq`. A stream is read when the merge has reached its first `seq`, so
 * streams of ranges one after the other are not open at the same time.
 */
export async function* mergedLists(streams: readonly LineStream[]): AsyncGenerator<readonly SourceLine[]> {
  let open = streams.map(({ firstSeq, lists }): OpenStream => ({ lists, next: firstSeq, list: [], at: 0 }));
  try {
    for (;;) {
      const [nearest, second] = twoNearest(open);
      if (nearest === null) return;
      if (nearest.at === nearest.list.length) {
        const { done, value } = await nearest.lists.next();
        if (done === true) open = open.filter((stream) => stream !== nearest);
        else Object.assign(nearest, { list: value, at: 0, next: value[0]?.seq ?? nearest.next });
        continue;
      }
      const from = nearest.at;
      const before = second?.next ?? Number.POSITIVE_INFINITY;
      let to = from + 1;
      while (to < nearest.list.length && (nearest.list[to]?.seq ?? 0) < before) to++;
      nearest.at = to;
      nearest.next = nearest.list[to]?.seq ?? (nearest.list[to - 1]?.seq ?? 0) + 1;
      yield from === 0 && to === nearest.list.length ? nearest.list : nearest.list.slice(from, to);
    }
  } finally {
    for (const { lists } of open) await lists.return?.();
  }
}

function twoNearest(streams: readonly OpenStream[]): [OpenStream | null, OpenStream | null] {
  let nearest: OpenStream | null = null;
  let second: OpenStream | null = null;
  for (const stream of streams) {
    if (nearest === null || stream.next < nearest.next) {
      second = nearest;
      nearest = stream;
    } else if (second === null || stream.next < second.next) second = stream;
  }
  return [nearest, second];
}
