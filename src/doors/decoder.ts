import type { Steps } from "../platform/turns.ts";

/**
 * Reads the body of one request of a protocol while it arrives, and passes its records to a `DoorEntrySink`. It holds a
 * part of the body only: the record that has not ended, and what the following records share.
 *
 * A generator yields when its `TurnMeter` is due. The decoder counts its own work on that meter.
 */
export interface DoorDecoder {
  /** Reads the next bytes, inflated. They are valid during the call only. @throws DoorBodyFault */
  read(chunk: Uint8Array): Steps<void>;
  /** Reads what is left at the end of the body. @throws DoorBodyFault */
  end(): Steps<void>;
  /** Approximate bytes that the decoder holds. */
  readonly held: number;
}

/** A body that is not of its protocol: nothing of it is stored, and the client gets the protocol's error with 400. */
export class DoorBodyFault extends Error {}
