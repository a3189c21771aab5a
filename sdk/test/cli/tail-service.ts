import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { Duplex } from "node:stream";

/** A tail that the program has opened. */
export interface Opened {
  /** Query of its URL. */
  query: string;
  socket: Duplex;
  send(frame: object): void;
  close(code: number, reason: string): void;
}

export interface TailService {
  url: string;
  opened: Opened[];
  close(): Promise<void>;
}

/** Starts a service whose behavior a test defines. Tails are numbered from 0. */
export async function startTailService(
  onTail: (tail: Opened, number: number) => void,
  refuse: (number: number) => { head: string; body: object } | undefined = () => undefined,
): Promise<TailService> {
  const opened: Opened[] = [];
  const server = createServer();
  server.on("upgrade", (request, socket) => {
    socket.on("error", () => {});
    const key = `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash("sha1").update(key).digest("base64");
    const tail: Opened = {
      query: request.url?.split("?")[1] ?? "",
      socket,
      send: (frame) => socket.write(framed(0x81, Buffer.from(JSON.stringify(frame)))),
      close: (code, reason) => {
        socket.write(framed(0x88, Buffer.concat([Buffer.from([code >> 8, code & 255]), Buffer.from(reason)])));
      },
    };
    const number = opened.push(tail) - 1;
    const accepted = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`;
    const refusal = refuse(number);
    if (refusal) {
      socket.end(`HTTP/1.1 ${refusal.head}\r\nConnection: close\r\n\r\n${JSON.stringify(refusal.body)}`);
      return;
    }
    // The first frames are in the same chunk as the handshake's answer.
    socket.cork();
    socket.write(accepted);
    onTail(tail, number);
    socket.uncork();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("No port.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    opened,
    async close() {
      for (const { socket } of opened) socket.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Creates an unmasked frame of up to 65,535 bytes. */
function framed(first: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head = length < 126 ? [first, length] : [first, 126, length >> 8, length & 255];
  return Buffer.concat([Buffer.from(head), payload]);
}
