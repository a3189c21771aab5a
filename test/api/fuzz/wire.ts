import http from "node:http";
import { connect } from "node:net";
import type { FuzzRequest } from "./arbitraries.ts";
import type { FuzzAnswer } from "./verdict.ts";

/** Sends requests that `fetch` refuses to send: odd methods, odd paths, a GET with a body. */
export class Wire {
  readonly #agent: http.Agent;
  readonly #port: number;

  constructor(port: number, sockets: number) {
    this.#port = port;
    this.#agent = new http.Agent({ keepAlive: true, maxSockets: sockets });
  }

  send({ method, path, headers, body }: FuzzRequest): Promise<FuzzAnswer> {
    return new Promise((resolve, reject) => {
      const options = { host: "127.0.0.1", port: this.#port, agent: this.#agent, method, path };
      const sent = { ...headers, ...(body === null ? {} : { "Content-Length": String(body.length) }) };
      const request = http.request({ ...options, headers: sent }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
        });
      });
      request.on("error", (error) => {
        // The server closed an idle connection just as it was used again, so it never read the request.
        if (request.reusedSocket && "code" in error && error.code === "ECONNRESET")
          resolve(this.send({ method, path, headers, body }));
        else reject(error);
      });
      request.end(body ?? undefined);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Writes bytes unchanged, closes its side, and returns everything received until the server closes. */
export function sendBytes(port: number, bytes: Buffer): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
    });
    // A reset counts as a response: the server refused to read on.
    socket.on("error", () => {});
    socket.on("close", () => resolve(text));
    socket.end(bytes);
  });
}
