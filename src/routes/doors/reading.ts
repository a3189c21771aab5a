import type { Context } from "hono";
import type { DoorDecoder } from "../../doors/decoder.ts";
import { DoorEntries } from "../../doors/shared/door-entries.ts";
import { RecordIds } from "../../doors/shared/record-ids.ts";
import type { AppEnv } from "../../http/context.ts";
import { mediaType } from "../../http/resource.ts";
import type { ClientDrops } from "../../logs/ingest/client-drops.ts";
import type { Steps, TurnMeter } from "../../platform/turns.ts";
import type { SentRepeats } from "../logs/send-entries.ts";
import type { Door } from "./door.ts";
import { queryOf } from "./door-key.ts";
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
  const query = queryOf(c);
  const reader = readerFor(settings.mapping, query);
  const type = mediaType(c.req.header("Content-Type"));
  return { terms, entries, decoder: door.decoder({ c, mediaType: type, query, entries, reader, settings }) };
}

/** What the client says it has dropped, as a member of a call of the workspace. */
export function dropsOf<D extends DoorDecoder>(door: Door<D>, { decoder }: Reading<D>): { drops?: ClientDrops } {
  const drops = door.drops?.(decoder);
  return drops === undefined ? {} : { drops };
}

/** What the call that stores the entries says of records that another request may have stored, or that none has. */
export function repeatsOf<D extends DoorDecoder>(door: Door<D>, reading: Reading<D>): SentRepeats {
  const { entries } = reading;
  const recordIds = entries.idsOf("all");
  const mergedCount = entries.mergedIndexes.length;
  return { ...(recordIds && { recordIds }), mergedCount, ...dropsOf(door, reading) };
}

/** Ends the reading of a body. One with too many entries was not read to its end, so its end says nothing. */
export function* endReading({ decoder, entries }: Reading<DoorDecoder>): Steps<void> {
  if (entries.failure === null) yield* decoder.end();
}
