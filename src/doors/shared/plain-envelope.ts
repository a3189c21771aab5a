import type { ClientId } from "../entry.ts";
import type { ReadLevel } from "./levels.ts";
import type { ReadTime } from "./times.ts";

const NO_BYTES = new Uint8Array();

/** What the envelope around a record says, where a record that says it differently is parsed. */
export interface PlainEnvelope {
  /** Members of `data`, as JSON without braces. Their names are those for which the `PlainLines` was made. */
  members: Uint8Array;
  time: ReadTime | null;
  level: ReadLevel | null;
  /** The level as sent, as JSON. */
  sentLevel: Uint8Array;
  /** Of records without their own, as JSON without quotes. */
  service: Uint8Array;
  host: Uint8Array;
  id?: ClientId;
}

export const EMPTY_ENVELOPE: Readonly<PlainEnvelope> = {
  ...{
    members: NO_BYTES,
    time: null,
    level: null,
    sentLevel: NO_BYTES,
    service: NO_BYTES,
    host: NO_BYTES,
  },
};
