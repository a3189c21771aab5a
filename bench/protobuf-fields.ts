/** Writes protobuf messages: an array of fields, each as its bytes. */

const encoder = new TextEncoder();

/** A varint field. Negative numbers take ten bytes. */
export function numberField(field: number, value: number | bigint): number[] {
  return [...varint(BigInt(field * 8)), ...varint(BigInt.asUintN(64, BigInt(value)))];
}

/** A field of bytes, text or a nested message. */
export function bytesField(field: number, value: string | Uint8Array | readonly number[]): Uint8Array {
  const bytes = typeof value === "string" ? encoder.encode(value) : value;
  const head = [...varint(BigInt(field * 8 + 2)), ...varint(BigInt(bytes.length))];
  const out = new Uint8Array(head.length + bytes.length);
  out.set(head);
  out.set(bytes, head.length);
  return out;
}

/** A fixed64 field. */
export function fixed64Field(field: number, value: bigint): Uint8Array {
  const out = new Uint8Array([...varint(BigInt(field * 8 + 1)), 0, 0, 0, 0, 0, 0, 0, 0]);
  new DataView(out.buffer).setBigUint64(out.length - 8, value, true);
  return out;
}

/** Joins fields to a message. */
export function message(...fields: readonly (Uint8Array | readonly number[])[]): Uint8Array {
  const out = new Uint8Array(fields.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const field of fields) {
    out.set(field, at);
    at += field.length;
  }
  return out;
}

function varint(value: bigint): number[] {
  const out: number[] = [];
  let rest = value;
  for (; rest >= 128n; rest >>= 7n) out.push(Number(rest & 127n) | 128);
  out.push(Number(rest));
  return out;
}
