import type { Context } from "hono";
import type { DoorDecoder } from "../../doors/decoder.ts";
import { DoorEntries } from "../../doors/shared/door-entries.ts";
import { RecordIds } from "../../doors/shared/record-ids.ts";
import type { AppEnv } from "../../http/context.ts";
import { mediaType } from "../../http/resource.ts";
import type { Steps, TurnMeter } from "../../platform/turns.ts";
import type { Door } from "./door.ts";
import { readerFor, type Terms } from "./key-terms.ts";

/** What the entries of a request are read with. */
export interface Reading<D> {
  terms: Terms;
  entries: DoorEntries;
  decoder: D;
}

/**
 * Starts to read a body from its beginning.
 * @param now epoch milliseconds of the receipt
 * @throws what the decoder of the door throws
 */
export function beginReading<D extends DoorDecoder>(
  c: Context<AppEnv>,
  door: Door<D>,
  terms: Terms,
  { now, meter }: { now: number; meter: TurnMeter },
): Reading<D> {
  const { settings } = terms;
  const { dedupe } = settings;
  const entries = new DoorEntries(now, meter, dedupe === "never" ? null : new RecordIds(dedupe === "record"));
  const query = new URL(c.req.url).searchParams;
  const reader = readerFor(settings.mapping, query);
  const type = mediaType(c.req.header("Content-Type"));
  return { terms, entries, decoder: door.decoder({ c, mediaType: type, query, entries, reader, settings }) };
}

/** Ends the reading of a body. One with too many entries was not read to its end, so its end says nothing. */
export function* endReading({ decoder, entries }: Reading<DoorDecoder>): Steps<void> {
  if (entries.failure === null) yield* decoder.end();
}
