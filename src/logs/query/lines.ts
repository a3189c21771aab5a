const LINE_BREAK = 10;

/** Bytes of lines that are looked at in one go, unless one line alone has more. */
const PIECE_BYTES = 32 * 1024;

/** Cuts lines into pieces of whole lines. A line break between two pieces is in neither. */
export function* piecesOf(body: Uint8Array): Generator<Uint8Array> {
  if (body.length <= PIECE_BYTES) {
    yield body;
    return;
  }
  for (let at = 0; at < body.length; ) {
    const end = at + PIECE_BYTES >= body.length ? -1 : body.indexOf(LINE_BREAK, at + PIECE_BYTES);
    yield body.subarray(at, end < 0 ? body.length : end);
    at = end < 0 ? body.length : end + 1;
  }
}

/**
 * The same of lines that come in parts, cut anywhere: never is more in memory than one part and one line. A part need only
 * be good until the next one is asked for.
 */
export function* wholeLines(parts: Iterable<Uint8Array>): Generator<Uint8Array> {
  let begun: Uint8Array[] = [];
  for (const part of parts) {
    const end = part.lastIndexOf(LINE_BREAK);
    if (end < 0) {
      begun.push(new Uint8Array(part));
      continue;
    }
    const lines = part.subarray(0, end);
    yield* piecesOf(begun.length === 0 ? lines : Buffer.concat([...begun, lines]));
    begun = end + 1 < part.length ? [new Uint8Array(part.subarray(end + 1))] : [];
  }
  const [only] = begun;
  if (only !== undefined) yield* piecesOf(begun.length === 1 ? only : Buffer.concat(begun));
}

/** Lines from a place on. A line break ends each but the last. */
export function countLines(text: string, from: number): number {
  let lines = 0;
  for (let at = from; at < text.length; lines++) {
    const end = text.indexOf("\n", at);
    at = end < 0 ? text.length : end + 1;
  }
  return lines;
}
