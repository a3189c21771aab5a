/**
 * A WebSocket client with the parts that the live tail needs: text, close, ping. Node 20 has no client. The client of
 * later versions does not return a refused upgrade's response, sends no pings and has no backpressure.
 */
import { createHash, randomBytes } from "node:crypto";
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Duplex } from "node:stream";
import { clientFrame, closePayload, FrameReader, OPCODE } from "./ws-frames.ts";

/** Appended to the key before it is hashed (RFC 6455, 1.3). */
const ACCEPT_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/** Bytes of a refusal's body that are read. */
const MAX_REFUSAL_BYTES = 64 * 1024;
/** Code of a connection that ended without a close frame (RFC 6455, 7.1.5). */
export const LOST = 1006;

export interface Closed {
  code: number;
  reason: string;
}

export interface Connection {
  /**
   * Yields the messages of the server. Reads from the connection only on demand.
   * @returns how the connection ended; never throws
   */
  messages(): AsyncGenerator<string, Closed>;
  send(text: string): void;
  /** Sends a close frame and ends the connection immediately. */
  close(): void;
}

export type Connected =
  | { kind: "open"; connection: Connection }
  | { kind: "refused"; status: number; headers: IncomingHttpHeaders; body: string };

export interface ConnectOptions {
  headers: Readonly<Record<string, string>>;
  /** Timeout of the handshake in milliseconds. */
  timeoutMs: number;
  /** Milliseconds between pings. A connection without any bytes between two pings is closed. */
  pingMs: number;
  signal: AbortSignal;
}

/** Opens a connection. @throws Error if the server cannot be reached or does not speak the protocol */
export function connect(url: URL, { headers, timeoutMs, pingMs, signal }: ConnectOptions): Promise<Connected> {
  return new Promise((resolve, reject) => {
    const key = randomBytes(16).toString("base64");
    const send = url.protocol === "https:" ? httpsRequest : httpRequest;
    const request = send(url, {
      agent: false,
      signal,
      headers: {
        ...headers,
        Connection: "Upgrade",
        Upgrade: "websocket",
        "Sec-WebSocket-Key": key,
        "Sec-WebSocket-Version": "13",
      },
    });
    const timer = setTimeout(() => request.destroy(new Error(`No answer within ${timeoutMs / 1000} s.`)), timeoutMs);
    request.on("close", () => clearTimeout(timer));
    request.on("error", reject);
    request.on("response", (response) => {
      bodyOf(response).then(
        (body) => resolve({ kind: "refused", status: response.statusCode ?? 0, headers: response.headers, body }),
        reject,
      );
    });
    request.on("upgrade", (response, socket, head) => {
      clearTimeout(timer);
      if (response.headers["sec-websocket-accept"] !== acceptOf(key)) {
        socket.destroy();
        reject(new Error("The server did not accept the WebSocket handshake."));
        return;
      }
      resolve({ kind: "open", connection: connectionOn(socket, head, pingMs) });
    });
    request.end();
  });
}

function acceptOf(key: string): string {
  return createHash("sha1").update(`${key}${ACCEPT_GUID}`).digest("base64");
}

async function bodyOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_REFUSAL_BYTES) break;
  }
  return Buffer.concat(chunks).toString();
}

function connectionOn(socket: Duplex, head: Buffer, pingMs: number): Connection {
  let lostBy = "";
  socket.on("error", (error) => {
    lostBy ||= error.message;
  });
  if (head.length > 0) socket.unshift(head);
  const write = (opcode: number, payload: Uint8Array) => {
    if (socket.writable) socket.write(clientFrame(opcode, payload, randomBytes(4)));
  };
  let isSilent = false;
  const pings = setInterval(() => {
    if (isSilent) {
      lostBy ||= `no data for ${pingMs / 1000} s`;
      socket.destroy();
      return;
    }
    isSilent = true;
    write(OPCODE.ping, new Uint8Array());
  }, pingMs);
  socket.on("close", () => clearInterval(pings));

  async function* messages(): AsyncGenerator<string, Closed> {
    const reader = new FrameReader();
    try {
      for await (const chunk of socket) {
        isSilent = false;
        for (const incoming of reader.push(chunk)) {
          if (incoming.kind === "text") yield incoming.text;
          else if (incoming.kind === "ping") write(OPCODE.pong, incoming.payload);
          else if (incoming.kind === "close") {
            write(OPCODE.close, closePayload(1000));
            return { code: incoming.code, reason: incoming.reason };
          }
        }
      }
    } catch (error) {
      lostBy ||= error instanceof Error ? error.message : String(error);
    } finally {
      endSoon(socket);
    }
    return { code: LOST, reason: lostBy };
  }

  return {
    messages,
    send: (text) => write(OPCODE.text, Buffer.from(text)),
    close() {
      write(OPCODE.close, closePayload(1000));
      endSoon(socket);
    },
  };
}

/** Ends the connection as soon as all data is written. */
function endSoon(socket: Duplex): void {
  if (socket.writable) socket.end(() => socket.destroy());
  else socket.destroy();
}
