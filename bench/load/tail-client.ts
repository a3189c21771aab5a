import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** Entries between two acknowledgements; the service wants one each 1,000. */
const ACK_EVERY = 500;
const SEQ = Buffer.from('"seq":');
const ENTRIES = Buffer.from('"type":"logs"');
const TEXT = 1;
const CLOSE = 8;

/**
 * A tail that does as little as a client can: it takes frames apart and counts `seq`s, and parses nothing, so that a hundred
 * of them leave the machine to the server. Entries of the benchmark have no `"seq":` in their text.
 */
export class TailClient {
  readonly #socket: Socket;
  #rest: Buffer = Buffer.alloc(0);
  #acked = 0;
  /** Entries got, the first and the last `seq`. */
  count = 0;
  first = 0;
  last = 0;
  /** The code and reason that the service closed with; null while it has not. */
  closed: string | null = null;
  /** Called with the last `seq` of each frame of entries. */
  onEntries: (seq: number) => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("error", (error) => {
      this.closed ??= error.message;
    });
    socket.on("close", () => {
      this.closed ??= "the connection was lost";
    });
  }

  static async open(origin: string, path: string, authorization: string): Promise<TailClient> {
    const { hostname, port } = new URL(origin);
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    socket.setNoDelay(true);
    const client = new TailClient(socket);
    socket.write(
      [
        `GET ${path} HTTP/1.1`,
        `Host: ${hostname}:${port}`,
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}`,
        `Authorization: ${authorization}`,
        "\r\n",
      ].join("\r\n"),
    );
    await client.#upgraded();
    return client;
  }

  end(): void {
    this.#socket.destroy();
  }

  async #upgraded(): Promise<void> {
    for (;;) {
      const [chunk] = await once(this.#socket, "data");
      this.#rest = Buffer.concat([this.#rest, chunk]);
      const end = this.#rest.indexOf("\r\n\r\n");
      if (end < 0) continue;
      const head = this.#rest.toString("latin1", 0, end);
      if (!head.startsWith("HTTP/1.1 101")) throw new Error(`The tail was refused: ${head.split("\r\n")[0]}`);
      this.#socket.on("data", (data: Buffer) => this.#take(data));
      this.#take(this.#rest.subarray(end + 4), true);
      return;
    }
  }

  #take(data: Buffer, isFirst = false): void {
    this.#rest = isFirst || this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data]);
    for (;;) {
      const frame = frameOf(this.#rest);
      if (frame === null) return;
      this.#rest = this.#rest.subarray(frame.end);
      if (frame.opcode === TEXT) this.#read(frame.payload);
      else if (frame.opcode === CLOSE)
        this.closed = `${frame.payload.readUInt16BE(0)} ${frame.payload.toString("utf8", 2)}`;
    }
  }

  #read(payload: Buffer): void {
    if (payload.indexOf(ENTRIES) < 0) {
      this.#ack(Number(/"seq":(\d+)/.exec(payload.toString("utf8"))?.[1] ?? 0));
      return;
    }
    let last = 0;
    for (let at = payload.indexOf(SEQ); at >= 0; at = payload.indexOf(SEQ, at + SEQ.length)) {
      this.count++;
      last = at;
    }
    this.last = numberAt(payload, last + SEQ.length);
    if (this.first === 0) this.first = numberAt(payload, payload.indexOf(SEQ) + SEQ.length);
    this.onEntries(this.last);
    if (this.last - this.#acked >= ACK_EVERY) this.#ack(this.last);
  }

  #ack(seq: number): void {
    if (seq <= this.#acked) return;
    this.#acked = seq;
    const text = Buffer.from(JSON.stringify({ type: "ack", seq }));
    // A mask of zeros leaves the text as it is.
    this.#socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), text]));
  }
}

function numberAt(bytes: Buffer, at: number): number {
  let value = 0;
  for (let i = at; ; i++) {
    const digit = (bytes[i] ?? 0) - 48;
    if (digit < 0 || digit > 9) return value;
    value = value * 10 + digit;
  }
}

/** The first whole frame of what has come; null where it is not whole. A service masks nothing. */
function frameOf(bytes: Buffer): { opcode: number; payload: Buffer; end: number } | null {
  if (bytes.length < 2) return null;
  const opcode = (bytes[0] ?? 0) & 15;
  let length = (bytes[1] ?? 0) & 127;
  let at = 2;
  if (length === 126) {
    if (bytes.length < 4) return null;
    length = bytes.readUInt16BE(2);
    at = 4;
  } else if (length === 127) {
    if (bytes.length < 10) return null;
    length = Number(bytes.readBigUInt64BE(2));
    at = 10;
  }
  const end = at + length;
  return bytes.length < end ? null : { opcode, payload: bytes.subarray(at, end), end };
}
