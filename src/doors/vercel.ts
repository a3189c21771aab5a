import type { TurnMeter } from "../platform/turns.ts";
import type { DoorDecoder } from "./decoder.ts";
import type { DoorEntry, DoorEntrySink } from "./entry.ts";
import { JsonRecords, readerFor } from "./shared/json-records.ts";
import { clientId } from "./shared/record-ids.ts";
import type { Mapping, RecordReader } from "./shared/record-reader.ts";

const NAMES: Mapping = { service: ["service", "projectName"], host: ["host"], time: ["timestamp"] };
const ERROR_STATUS = 500;

/** Reads the entries of a Vercel log drain, an array or lines. */
export function vercelDecoder(sink: DoorEntrySink, meter: TurnMeter, mapping?: Mapping): DoorDecoder {
  const records = readerFor(NAMES, mapping);
  return new JsonRecords(sink, meter, (record) => readVercel(record, records));
}

/** Entries of requests have no message, and those of builds and of older drains no level. */
function readVercel(record: Record<string, unknown>, records: RecordReader): DoorEntry {
  const { id, type, statusCode, proxy } = record;
  const entry = records.read(record);
  if (entry.message === null || entry.message === "") entry.message = requestText(proxy) ?? null;
  const isFailed = isErrorStatus(statusCode) || isErrorStatus(memberOf(proxy, "statusCode"));
  if (type === "stderr" || type === "fatal" || isFailed) entry.level ??= "error";
  return typeof id === "string" && id !== "" ? { ...entry, id: clientId("vercel", id, true) } : entry;
}

function isErrorStatus(status: unknown): boolean {
  return typeof status === "number" && status >= ERROR_STATUS;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** `GET /path 200`. */
function requestText(proxy: unknown): string | undefined {
  const method = memberOf(proxy, "method");
  const path = memberOf(proxy, "path");
  const statusCode = memberOf(proxy, "statusCode");
  if (typeof method !== "string" || typeof path !== "string") return undefined;
  return typeof statusCode === "number" && statusCode > 0 ? `${method} ${path} ${statusCode}` : `${method} ${path}`;
}
