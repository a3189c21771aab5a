/** Writes OTLP's logs messages, for the bench and for tests: a model, and both encodings of it. */

export type Value =
  | string
  | number
  | bigint
  | boolean
  | null
  | Uint8Array
  | { double: number }
  | Value[]
  | { map: readonly (readonly [string, Value])[] };
export type Attributes = readonly (readonly [string, Value])[];

export interface OtlpRecord {
  time?: bigint;
  observed?: bigint;
  severityNumber?: number;
  severityText?: string;
  body?: Value;
  attributes?: Attributes;
  dropped?: number;
  flags?: number;
  traceId?: string;
  spanId?: string;
  eventName?: string;
}

export interface OtlpScope {
  name?: string;
  version?: string;
  attributes?: Attributes;
  dropped?: number;
  schemaUrl?: string;
  records: readonly OtlpRecord[];
}

export interface OtlpResource {
  attributes?: Attributes;
  dropped?: number;
  schemaUrl?: string;
  scopes: readonly OtlpScope[];
}

/** @param isLate whether resources and scopes come after what they contain */
export function protobufOf(resources: readonly OtlpResource[], isLate = false): Buffer {
  const ordered = (parts: Buffer[]) => Buffer.concat(isLate ? parts.reverse() : parts);
  return Buffer.concat(
    resources.map((resource) =>
      field(
        1,
        ordered([
          field(1, Buffer.concat([...keyValues(1, resource.attributes), number(2, resource.dropped)])),
          ...resource.scopes.map((scope) =>
            field(
              2,
              ordered([
                field(1, scopeOf(scope)),
                Buffer.concat(scope.records.map((record) => field(2, recordOf(record)))),
                text(3, scope.schemaUrl),
              ]),
            ),
          ),
          text(3, resource.schemaUrl),
        ]),
      ),
    ),
  );
}

function scopeOf({ name, version, attributes, dropped }: OtlpScope): Buffer {
  return Buffer.concat([text(1, name), text(2, version), ...keyValues(3, attributes), number(4, dropped)]);
}

function recordOf(record: OtlpRecord): Buffer {
  const { time, observed, flags, traceId, spanId } = record;
  return Buffer.concat([
    time === undefined ? EMPTY : Buffer.concat([varint((1 << 3) | 1), fixed64(time)]),
    number(2, record.severityNumber),
    text(3, record.severityText),
    record.body === undefined ? EMPTY : field(5, anyValue(record.body)),
    ...keyValues(6, record.attributes),
    number(7, record.dropped),
    flags === undefined ? EMPTY : Buffer.concat([varint((8 << 3) | 5), fixed32(flags)]),
    traceId === undefined ? EMPTY : field(9, Buffer.from(traceId, "hex")),
    spanId === undefined ? EMPTY : field(10, Buffer.from(spanId, "hex")),
    observed === undefined ? EMPTY : Buffer.concat([varint((11 << 3) | 1), fixed64(observed)]),
    text(12, record.eventName),
  ]);
}

const EMPTY = Buffer.alloc(0);

export function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

/** A field with a length. */
export function field(id: number, value: Uint8Array): Buffer {
  return Buffer.concat([varint((id << 3) | 2), varint(value.length), value]);
}

function number(id: number, value: number | undefined): Buffer {
  return value === undefined ? EMPTY : Buffer.concat([varint(id << 3), varint(value)]);
}

function text(id: number, value: string | undefined): Buffer {
  return value === undefined ? EMPTY : field(id, Buffer.from(value));
}

function fixed64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

function fixed32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function keyValues(id: number, attributes: Attributes = []): Buffer[] {
  return attributes.map(([key, value]) => field(id, keyValue(key, value)));
}

function keyValue(key: string, value: Value): Buffer {
  return Buffer.concat([text(1, key), field(2, anyValue(value))]);
}

export function anyValue(value: Value): Buffer {
  if (value === null) return EMPTY;
  if (typeof value === "string") return text(1, value);
  if (typeof value === "boolean") return number(2, Number(value));
  if (typeof value === "number" || typeof value === "bigint") return Buffer.concat([varint(3 << 3), varint(value)]);
  if (value instanceof Uint8Array) return field(7, value);
  if (Array.isArray(value)) return field(5, Buffer.concat(value.map((item) => field(1, anyValue(item)))));
  if ("map" in value) return field(6, Buffer.concat(value.map.map(([key, own]) => field(1, keyValue(key, own)))));
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value.double);
  return Buffer.concat([varint((4 << 3) | 1), bytes]);
}

/** As `@opentelemetry/otlp-transformer` writes it. @param isLate as for `protobufOf` */
export function jsonOf(resources: readonly OtlpResource[], isLate = false): string {
  const ordered = (members: [string, unknown][]) => Object.fromEntries(isLate ? members.reverse() : members);
  return JSON.stringify({
    resourceLogs: resources.map((resource) =>
      ordered([
        [
          "resource",
          { attributes: jsonAttributes(resource.attributes), droppedAttributesCount: resource.dropped ?? 0 },
        ],
        [
          "scopeLogs",
          resource.scopes.map((scope) =>
            ordered([
              [
                "scope",
                {
                  name: scope.name,
                  version: scope.version,
                  ...(scope.attributes && { attributes: jsonAttributes(scope.attributes) }),
                  ...(scope.dropped && { droppedAttributesCount: scope.dropped }),
                },
              ],
              ["logRecords", scope.records.map(jsonRecord)],
              ["schemaUrl", scope.schemaUrl],
            ]),
          ),
        ],
        ["schemaUrl", resource.schemaUrl],
      ]),
    ),
  });
}

function jsonRecord(record: OtlpRecord): unknown {
  return {
    timeUnixNano: record.time?.toString(),
    observedTimeUnixNano: record.observed?.toString(),
    severityNumber: record.severityNumber,
    severityText: record.severityText,
    body: record.body === undefined ? undefined : jsonValue(record.body),
    eventName: record.eventName,
    attributes: jsonAttributes(record.attributes),
    droppedAttributesCount: record.dropped ?? 0,
    flags: record.flags,
    traceId: record.traceId,
    spanId: record.spanId,
  };
}

function jsonAttributes(attributes: Attributes = []): unknown {
  return attributes.map(([key, value]) => ({ key, value: jsonValue(value) }));
}

function jsonValue(value: Value): unknown {
  if (value === null) return {};
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number") return { intValue: value };
  if (typeof value === "bigint") return { intValue: value.toString() };
  if (value instanceof Uint8Array) return { bytesValue: Buffer.from(value).toString("base64") };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(jsonValue) } };
  if ("map" in value) return { kvlistValue: { values: jsonAttributes(value.map) } };
  return { doubleValue: Number.isFinite(value.double) ? value.double : String(value.double) };
}
