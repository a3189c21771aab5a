import type { Context } from "hono";
import type { DoorDecoder } from "../../doors/decoder.ts";
import type { DoorEntries } from "../../doors/shared/door-entries.ts";
import type { AppEnv } from "../../http/context.ts";
import { mediaType } from "../../http/resource.ts";
import type { Steps } from "../../platform/turns.ts";
import type { Door } from "./door.ts";
import { readerFor, type Terms } from "./key-terms.ts";

/** What the entries of a request are read with. */
export interface Reading<D> {
  terms: Terms;
  entries: DoorEntries;
  decoder: D;
}

/** Starts to read a body from its beginning. @throws what the decoder of the door throws */
export function beginReading<D extends DoorDecoder>(
  c: Context<AppEnv>,
  door: Door<D>,
  terms: Terms,
  entries: DoorEntries,
): Reading<D> {
  const { settings } = terms;
  const query = new URL(c.req.url).searchParams;
  const reader = readerFor(settings.mapping, query);
  const type = mediaType(c.req.header("Content-Type"));
  return { terms, entries, decoder: door.decoder({ c, mediaType: type, query, entries, reader, settings }) };
}

/** Ends the reading of a body. One with too many entries was not read to its end, so its end says nothing. */
export function* endReading({ decoder, entries }: Reading<DoorDecoder>): Steps<void> {
  if (entries.failure === null) yield* decoder.end();
}
