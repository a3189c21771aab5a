import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** A request of Node or Express; `ip` is Express's, which knows what proxies to trust. */
type NodeRequest = IncomingMessage & { originalUrl?: string; ip?: string; body?: unknown };

/**
 * Serves a handler of the web's `Request` and `Response`, like that of `taffrail/proxy`, in Express, Connect or Node:
 * `app.all("/logs", webHandler(createProxy(options)))`. The client's address comes from Express or the socket, never
 * from a header the client may have written itself.
 */
export function webHandler(
  handler: (request: Request) => Promise<Response>,
): (request: NodeRequest, response: ServerResponse, next?: (error: unknown) => void) => void {
  return (request, response, next) => {
    handler(requestOf(request))
      .then((answer) => send(answer, response))
      .catch((error: unknown) => {
        if (next) next(error);
        else response.destroy();
      });
  };
}

function requestOf(request: NodeRequest): Request {
  const headers = new Headers();
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
    headers.append(request.rawHeaders[i] ?? "", request.rawHeaders[i + 1] ?? "");
  }
  for (const name of ["cf-connecting-ip", "x-forwarded-for"]) headers.delete(name);
  const address = request.ip ?? request.socket.remoteAddress;
  if (address) headers.set("x-forwarded-for", address);
  const { method = "GET" } = request;
  const url = new URL(request.originalUrl ?? request.url ?? "/", `http://${request.headers.host ?? "localhost"}`);
  if (method === "GET" || method === "HEAD") return new Request(url, { method, headers });
  const init: RequestInit & { duplex: "half" } = { method, headers, body: bodyOf(request), duplex: "half" };
  return new Request(url, init);
}

/** What a body parser before this one has read cannot be read again. */
function bodyOf(request: NodeRequest): BodyInit {
  const { body } = request;
  if (typeof body === "string") return body;
  if (request.readableEnded && body !== undefined) return JSON.stringify(body);
  // SAFETY: Node's stream module and the web's types name the same streams.
  return Readable.toWeb(request) as unknown as ReadableStream<Uint8Array>;
}

async function send(answer: Response, response: ServerResponse): Promise<void> {
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers) response.appendHeader(name, value);
  if (!answer.body) response.end();
  // SAFETY: Node's stream module and the web's types name the same streams.
  else await pipeline(Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]), response);
}
