import type { TurnMeter } from "../platform/turns.ts";
import type { DoorDecoder } from "./decoder.ts";
import type { DoorEntry, DoorEntrySink } from "./entry.ts";
import { JsonRecords, readerFor } from "./shared/json-records.ts";
import type { Mapping, RecordReader } from "./shared/record-reader.ts";

const NAMES: Mapping = {
  message: ["short_message", "full_message"],
  time: ["timestamp"],
  host: ["host"],
  level: ["level"],
};
const OWN = new Set([...Object.values(NAMES).flat(), "version"]);
/** The version of the protocol says nothing of the message. */
const VERSION = /^1\.[01]$/;

/** Reads GELF messages: one as Graylog's clients send it, or several behind each other, in lines or arrays. */
export function gelfDecoder(sink: DoorEntrySink, meter: TurnMeter, mapping?: Mapping): DoorDecoder {
  const records = readerFor(NAMES, mapping);
  return new JsonRecords(sink, meter, (record) => readGelf(record, records));
}

/** Additional fields lose the underscore of their names unless another member has that name. */
function readGelf({ version, ...members }: Record<string, unknown>, records: RecordReader): DoorEntry {
  const renamed = Object.entries(members).map(([name, value]) => {
    const short = name.slice(1);
    const isFree = name.startsWith("_") && short !== "" && !OWN.has(short) && !Object.hasOwn(members, short);
    return [isFree ? short : name, value];
  });
  const isKnown = version === undefined || (typeof version === "string" && VERSION.test(version));
  return records.read({ ...Object.fromEntries(renamed), ...(!isKnown && { version }) });
}
