import type { DoorDecoder } from "../../../src/doors/decoder.ts";
import type { DoorEntry, DoorEntrySink } from "../../../src/doors/entry.ts";
import { inOneTurn, TurnMeter } from "../../../src/platform/turns.ts";

/** Keeps the records that a decoder passes on. */
export class ListSink implements DoorEntrySink {
  readonly entries: DoorEntry[] = [];
  readonly rejected: string[] = [];

  add(entry: DoorEntry): void {
    this.entries.push(entry);
  }

  reject(reason: string): void {
    this.rejected.push(reason);
  }
}

export type NewDecoder = (sink: DoorEntrySink, meter: TurnMeter) => DoorDecoder;

/** Decodes a body in chunks of a size. @returns the records, and the most bytes that the decoder held */
export function decode(
  newDecoder: NewDecoder,
  body: Uint8Array | string,
  size = 128 * 1024,
): { entries: DoorEntry[]; rejected: string[]; held: number } {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const sink = new ListSink();
  const decoder = newDecoder(sink, new TurnMeter());
  let held = 0;
  for (let at = 0; at < bytes.length; at += size) {
    // The bytes of a chunk change after the call, as those of a request do.
    const chunk = Uint8Array.from(bytes.subarray(at, at + size));
    inOneTurn(decoder.read(chunk));
    chunk.fill(0x2a);
    held = Math.max(held, decoder.held);
  }
  inOneTurn(decoder.end());
  return { entries: sink.entries, rejected: sink.rejected, held };
}
