import type { DoorDecoder } from "../../../src/doors/decoder.ts";
import type { DoorEntry, DoorEntrySink } from "../../../src/doors/entry.ts";
import { type Steps, TurnMeter } from "../../../src/platform/turns.ts";

/** What a decoder has passed on. */
export interface Decoded<D> {
  decoder: D;
  entries: DoorEntry[];
  rejected: string[];
  /** Bytes that the decoder held at most. */
  held: number;
}

/** Passes a body to a decoder in chunks. The bytes of a chunk are overwritten after the call, as those of a request are. */
export function decode<D extends DoorDecoder>(
  make: (sink: DoorEntrySink, meter: TurnMeter) => D,
  body: Uint8Array | string,
  chunkBytes = 128 * 1024,
): Decoded<D> {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const entries: DoorEntry[] = [];
  const rejected: string[] = [];
  const meter = new TurnMeter();
  const sink = { add: (entry: DoorEntry) => entries.push(entry), reject: (reason: string) => rejected.push(reason) };
  const decoder = make(sink, meter);
  let held = 0;
  const run = (steps: Steps<void>) => {
    for (let isDone = false; !isDone; ) {
      isDone = steps.next().done === true;
      held = Math.max(held, decoder.held);
      meter.renew();
    }
  };
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const chunk = new Uint8Array(bytes.subarray(at, at + chunkBytes));
    run(decoder.read(chunk));
    chunk.fill(0x21);
  }
  run(decoder.end());
  return { decoder, entries, rejected, held };
}

/** Repeatable random numbers. */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Changes some bytes, or removes, repeats or cuts a part. */
export function mutated(body: Uint8Array, random: (below: number) => number): Uint8Array {
  let bytes = new Uint8Array(body);
  for (let n = random(4); n >= 0; n--) {
    const at = random(bytes.length);
    const length = random(Math.min(64, bytes.length - at) + 1);
    switch (random(5)) {
      case 0:
        bytes = new Uint8Array(bytes.subarray(0, at));
        break;
      case 1:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
        break;
      case 2:
        bytes = Buffer.concat([bytes.subarray(0, at + length), bytes.subarray(at)]);
        break;
      default:
        if (bytes.length > 0) bytes[at] = random(256);
    }
    if (bytes.length === 0) return bytes;
  }
  return bytes;
}
