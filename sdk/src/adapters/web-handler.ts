import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** A request of Node or Express. Express computes `ip` by its setting of trusted proxies. */
type NodeRequest = IncomingMessage & { originalUrl?: string; ip?: string | undefined; body?: unknown };

/** The bytes of a body, or its text if a body parser has read it. */
type Body = string | AsyncIterator<Uint8Array>;

/** Bytes and milliseconds for reading an unused body to its end: clients read the response after they have sent it. */
const DRAIN_BYTES = 2 * 1024 * 1024;
const DRAIN_MS = 5000;

/**
 * Serves a handler of web-standard `Request` and `Response`, like that of `taffrail/proxy`, in Express, Connect or
 * Node. The client IP comes from Express or the socket, never from a header that the client could have set.
 * @example
 * import express from "express";
 * import { webHandler } from "taffrail/express";
 * import { createProxy } from "taffrail/proxy";
 *
 * const app = express();
 * app.all("/logs", webHandler(createProxy({ apiUrl, projectId, apiKey })));
 */
export function webHandler(
  handler: (request: Request) => Promise<Response>,
): (request: NodeRequest, response: ServerResponse, next?: (error: unknown) => void) => void {
  return (request, response, next) => {
    const body = bodyOf(request);
    handler(requestOf(request, body))
      .then(async (answer) => {
        // An unread rest of the body would precede the next request on the connection.
        if (!(await isDrained(body))) response.setHeader("Connection", "close");
        await send(answer, response);
      })
      .catch((error: unknown) => {
        if (next) next(error);
        else response.destroy();
      });
  };
}

function requestOf(request: NodeRequest, body: Body): Request {
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
  const init: RequestInit & { duplex: "half" } = { method, headers, body: streamOf(body), duplex: "half" };
  return new Request(url, init);
}

/** Returns the body. One that a body parser has read cannot be read again, so its parsed value is encoded. */
function bodyOf(request: NodeRequest): Body {
  const { body } = request;
  if (typeof body === "string") return body;
  if (request.readableEnded && body !== undefined) return JSON.stringify(body);
  // SAFETY: a request without an encoding yields bytes.
  return request.iterator({ destroyOnReturn: false }) as AsyncIterator<Uint8Array>;
}

/** Unlike Node's conversion, keeps the connection open if the reader stops early, so that the rest can be drained. */
function streamOf(body: Body): BodyInit {
  if (typeof body === "string") return body;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await body.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Reads the rest of a body up to the limits above. @returns whether the end was reached */
async function isDrained(body: Body): Promise<boolean> {
  if (typeof body === "string") return true;
  let deadline: ReturnType<typeof setTimeout> | undefined;
  let isLate = false;
  const late = new Promise<{ done: boolean; value?: Uint8Array }>((resolve) => {
    deadline = setTimeout(() => {
      isLate = true;
      resolve({ done: true });
    }, DRAIN_MS);
  });
  try {
    for (let bytes = 0; bytes <= DRAIN_BYTES; ) {
      const { done, value } = await Promise.race([body.next(), late]);
      if (done) return !isLate;
      bytes += value?.length ?? 0;
    }
  } catch {
    // The client has disconnected.
  } finally {
    clearTimeout(deadline);
  }
  return false;
}

async function send(answer: Response, response: ServerResponse): Promise<void> {
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers) response.appendHeader(name, value);
  if (!answer.body) response.end();
  // SAFETY: Node's stream module and the DOM types declare the same streams.
  else await pipeline(Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]), response);
}
