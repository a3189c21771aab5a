/** OTLP's answers in both encodings: https://opentelemetry.io/docs/specs/otlp/#otlphttp-response */

export const JSON_TYPE = "application/json";
export const PROTOBUF_TYPE = "application/x-protobuf";

const LENGTH = 2;
const encoder = new TextEncoder();

/** `ExportLogsServiceResponse`; without rejected records it is empty. */
export function partialSuccess(type: string, rejected: number, message: string): Uint8Array<ArrayBuffer> {
  if (type === JSON_TYPE) {
    const partial = { partialSuccess: { rejectedLogRecords: String(rejected), errorMessage: message } };
    return new Uint8Array(encoder.encode(rejected === 0 ? "{}" : JSON.stringify(partial)));
  }
  if (rejected === 0) return new Uint8Array();
  return field(1, [...varintField(1, rejected), ...field(2, encoder.encode(message))]);
}

/** `google.rpc.Status`. @param code a code of gRPC */
export function statusMessage(type: string, code: number, message: string): Uint8Array<ArrayBuffer> {
  if (type === JSON_TYPE) return new Uint8Array(encoder.encode(JSON.stringify({ code, message })));
  return new Uint8Array([...varintField(1, code), ...field(2, encoder.encode(message))]);
}

function varintField(number: number, value: number): number[] {
  return [number << 3, ...varint(value)];
}

function field(number: number, bytes: ArrayLike<number>): Uint8Array<ArrayBuffer> {
  return new Uint8Array([(number << 3) | LENGTH, ...varint(bytes.length), ...Array.from(bytes)]);
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest & 127) | 128);
  bytes.push(rest);
  return bytes;
}
