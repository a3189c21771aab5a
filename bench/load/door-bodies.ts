import { entryAt } from "../entries.ts";
import { jsonOf, type OtlpResource, protobufOf } from "../otlp-bodies.ts";
import { bytesField, message, numberField } from "../protobuf-fields.ts";
import { snappyBlock } from "../snappy.ts";

/** Bodies in the protocols of other clients. No body is sent twice, because a repetition would be merged. */

export const DOOR_FORMATS = ["otlp protobuf", "otlp json", "loki snappy", "es bulk", "ndjson"] as const;
export type DoorFormat = (typeof DOOR_FORMATS)[number];

/** A body whose first record can be given another time. */
export interface DoorBody {
  bytes: Buffer;
  /** @param number of the request, which differs from all others and is at most 600 million */
  stamp: (copy: Buffer, number: number) => void;
}

const MODELS: Readonly<Record<DoorFormat, (entries: number, firstIndex: number) => DoorBody>> = {
  "otlp protobuf": (entries, firstIndex) => {
    const { resources, time } = modelOf(entries, firstIndex);
    const bytes = protobufOf(resources);
    const sent = Buffer.alloc(8);
    sent.writeBigUInt64LE(time);
    const at = bytes.indexOf(sent);
    return { bytes, stamp: (copy, number) => copy.writeBigUInt64LE(time + BigInt(number), at) };
  },
  "otlp json": (entries, firstIndex) => {
    const { resources, time } = modelOf(entries, firstIndex);
    const bytes = Buffer.from(jsonOf(resources));
    const at = bytes.indexOf(String(time));
    return { bytes, stamp: (copy, number) => copy.write(String(time + BigInt(number)), at, "latin1") };
  },
  "loki snappy": lokiBody,
  "es bulk": bulkBody,
  ndjson: linesBody,
};

export function doorBody(format: DoorFormat, entries: number, firstIndex: number): DoorBody {
  return MODELS[format](entries, firstIndex);
}

/** A copy of a body whose first record has another time. @param number of the request, which differs from all others */
export function stamped({ bytes, stamp }: DoorBody, number: number): Buffer {
  const copy = Buffer.from(bytes);
  stamp(copy, number);
  return copy;
}

/** Nanoseconds of a second that take five bytes of a varint, also with the number of a request added. */
const NANOS = 300_000_000;

/** Lines of JSON, as loggers for Loki write them, in a Snappy block of protobuf. */
function lokiBody(entries: number, firstIndex: number): DoorBody {
  const seconds = Math.floor(Date.now() / 1000) - 2;
  const fields = Array.from({ length: entries }, (_, at) => {
    const { level, message: text, session, traceId, data } = entryAt(firstIndex + at, 0);
    const stamp = message(numberField(1, seconds), numberField(2, NANOS + at * 1000));
    const line = JSON.stringify({ level, message: text, session, traceId, ...data });
    return bytesField(2, message(bytesField(1, stamp), bytesField(2, line)));
  });
  const labels = bytesField(1, '{service_name="checkout", host="node-7"}');
  const bytes = Buffer.from(snappyBlock(message(bytesField(1, message(labels, ...fields)))));
  const at = bytes.indexOf(Buffer.from(numberField(2, NANOS)));
  return { bytes, stamp: (copy, number) => copy.set(numberField(2, NANOS + number), at) };
}

/** Documents of the Elastic Common Schema, as agents send them. */
function bulkBody(entries: number, firstIndex: number): DoorBody {
  const now = Date.now() - 2000;
  const lines = Array.from({ length: entries }, (_, at) => {
    const { timestamp, level, message: text, session, traceId, data } = entryAt(firstIndex + at, now - (at % 1000));
    const document = {
      // Microseconds, as most agents have them.
      ...{ "@timestamp": `${timestamp.slice(0, -1)}${MICROS}Z`, "log.level": level, message: text },
      ...{ "service.name": "checkout", "trace.id": traceId, session, ...data },
    };
    return `{"create":{"_index":"logs-checkout"}}\n${JSON.stringify(document)}\n`;
  });
  const bytes = Buffer.from(lines.join(""));
  const at = bytes.indexOf(`${MICROS}Z`);
  return { bytes, stamp: (copy, number) => copy.write(String(number).padStart(MICROS.length, "0"), at, "latin1") };
}

/** Lines of a logger of its own: other names and another order than those of entries, and times in microseconds. */
function linesBody(entries: number, firstIndex: number): DoorBody {
  const now = Date.now() - 2000;
  const first = now * 1000;
  const lines = Array.from({ length: entries }, (_, at) => {
    const { level, message: msg, session, traceId, data } = entryAt(firstIndex + at, 0);
    const record = { msg, ...data, severity: level, time: first - (at % 1000) * 1000, service: "checkout" };
    return `${JSON.stringify({ ...record, trace_id: traceId, session })}\n`;
  });
  const bytes = Buffer.from(lines.join(""));
  const at = bytes.indexOf(String(first));
  return { bytes, stamp: (copy, number) => copy.write(String(first + number), at, "latin1") };
}

/** Digits of a time after the milliseconds, in which a number of a request fits. */
const MICROS = "000000";

const SEVERITIES: Readonly<Record<string, number>> = { debug: 5, info: 9, warn: 13, error: 17 };

/** The entries of the other measurements, as an SDK sends them. */
function modelOf(entries: number, firstIndex: number): { resources: OtlpResource[]; time: bigint } {
  const now = Date.now();
  const records = Array.from({ length: entries }, (_, at) => {
    const { timestamp, level, message, session, traceId, data } = entryAt(firstIndex + at, now - (at % 1000));
    const time = BigInt(Date.parse(timestamp)) * 1_000_000n;
    return {
      ...{ time, observed: time, severityNumber: SEVERITIES[level] ?? 0, severityText: level.toUpperCase() },
      ...{ body: message, traceId, flags: 1 },
      attributes: [["session.id", session] as const, ...Object.entries(data)],
    };
  });
  const attributes = [
    ...[["service.name", "checkout"] as const, ["service.version", "1.4.2"] as const, ["host.name", "node-7"] as const],
    ...[["telemetry.sdk.language", "nodejs"] as const, ["telemetry.sdk.name", "opentelemetry"] as const],
    ["telemetry.sdk.version", "3.1.0"] as const,
  ];
  return { resources: [{ attributes, scopes: [{ name: "app", records }] }], time: records[0]?.time ?? 0n };
}
