/** Maximal bytes of one message. The service's messages are much smaller. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** A message or control frame of the server. */
export type Incoming =
  | { kind: "text"; text: string }
  | { kind: "close"; code: number; reason: string }
  | { kind: "ping"; payload: Uint8Array }
  | { kind: "pong" };

interface Frame {
  isFinal: boolean;
  opcode: number;
  payload: Buffer;
}

/** Close code for a close frame that names none (RFC 6455, 7.1.5). */
const NO_CODE = 1005;

/** Parses a server's bytes into messages (RFC 6455, section 5), independent of chunk boundaries. */
export class FrameReader {
  #chunks: Uint8Array[] = [];
  #size = 0;
  /** Minimal bytes of the next frame. It is not parsed before they have arrived. */
  #needed = 2;
  #parts: Buffer[] | null = null;
  #partBytes = 0;

  /** Adds a chunk. @returns the completed messages  @throws Error if the bytes violate the protocol */
  push(chunk: Uint8Array): Incoming[] {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    const found: Incoming[] = [];
    if (this.#size < this.#needed) return found;
    let bytes = Buffer.concat(this.#chunks);
    for (;;) {
      const [frame, length] = frameOf(bytes);
      this.#needed = length;
      if (frame === null) break;
      const message = this.#messageOf(frame);
      if (message) found.push(message);
      bytes = bytes.subarray(length);
    }
    this.#chunks = [bytes];
    this.#size = bytes.length;
    return found;
  }

  #messageOf({ isFinal, opcode, payload }: Frame): Incoming | null {
    if (opcode >= OPCODE.close) {
      if (!isFinal || payload.length > 125) throw new Error("A control frame was cut or too long.");
      return controlOf(opcode, payload);
    }
    if (opcode === OPCODE.continuation ? this.#parts === null : this.#parts !== null) {
      throw new Error("The parts of a message were out of order.");
    }
    if (opcode !== OPCODE.continuation && opcode !== OPCODE.text) throw new Error("A message was not text.");
    this.#parts ??= [];
    this.#parts.push(payload);
    this.#partBytes += payload.length;
    if (this.#partBytes > MAX_MESSAGE_BYTES) throw new Error("A message was too long.");
    if (!isFinal) return null;
    const text = textOf(Buffer.concat(this.#parts));
    this.#parts = null;
    this.#partBytes = 0;
    return { kind: "text", text };
  }
}

/** Returns the first frame and its length, or `null` and its minimal length if it is incomplete. */
function frameOf(bytes: Buffer): [Frame | null, number] {
  if (bytes.length < 2) return [null, 2];
  const first = bytes.readUInt8(0);
  const second = bytes.readUInt8(1);
  if ((first & 0x70) !== 0) throw new Error("A frame used an extension that was not agreed on.");
  if ((second & 0x80) !== 0) throw new Error("A server's frame was masked.");
  const short = second & 0x7f;
  const head = short === 127 ? 10 : short === 126 ? 4 : 2;
  if (bytes.length < head) return [null, head];
  const length = short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short;
  if (length > MAX_MESSAGE_BYTES) throw new Error("A message was too long.");
  if (bytes.length < head + length) return [null, head + length];
  const payload = bytes.subarray(head, head + length);
  return [{ isFinal: (first & 0x80) !== 0, opcode: first & 0x0f, payload }, head + length];
}

function controlOf(opcode: number, payload: Buffer): Incoming {
  switch (opcode) {
    case OPCODE.close:
      if (payload.length < 2) return { kind: "close", code: NO_CODE, reason: "" };
      return { kind: "close", code: payload.readUInt16BE(0), reason: textOf(payload.subarray(2)) };
    case OPCODE.ping:
      return { kind: "ping", payload };
    case OPCODE.pong:
      return { kind: "pong" };
    default:
      throw new Error("A frame was of an unknown kind.");
  }
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}

/** Creates a client's frame: final, and masked with the four bytes of `mask`. */
export function clientFrame(opcode: number, payload: Uint8Array, mask: Uint8Array): Buffer {
  const { length } = payload;
  const head = length < 126 ? Buffer.alloc(2) : length < 65_536 ? Buffer.alloc(4) : Buffer.alloc(10);
  head.writeUInt8(0x80 | opcode, 0);
  if (length < 126) head.writeUInt8(0x80 | length, 1);
  else if (length < 65_536) {
    head.writeUInt8(0x80 | 126, 1);
    head.writeUInt16BE(length, 2);
  } else {
    head.writeUInt8(0x80 | 127, 1);
    head.writeBigUInt64BE(BigInt(length), 2);
  }
  const masked = Buffer.from(payload);
  for (let i = 0; i < length; i++) masked[i] = (masked[i] ?? 0) ^ (mask[i & 3] ?? 0);
  return Buffer.concat([head, mask, masked]);
}

export function closePayload(code: number): Uint8Array {
  const payload = Buffer.alloc(2);
  payload.writeUInt16BE(code, 0);
  return payload;
}
