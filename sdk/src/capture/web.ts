import type { BodyTap } from "./body.ts";
import { type Exchange, type Incoming, statusOf } from "./exchange.ts";

export function incomingOf(request: Request): Incoming {
  return {
    method: request.method,
    url: request.url,
    header: (name) => request.headers.get(name),
    headers: () => request.headers,
  };
}

/** Reads a copy of the request's body into its tap, independent of other readers. */
export function tapRequest(exchange: Exchange, request: Request): void {
  const { requestTap } = exchange;
  if (!requestTap || !request.body) {
    exchange.requestRead();
    return;
  }
  drain(request.clone(), requestTap).then(exchange.requestRead, exchange.requestRead);
}

async function drain({ body }: Request, tap: BodyTap): Promise<void> {
  const reader = body?.getReader();
  if (!reader) return;
  for (let part = await reader.read(); !part.done; part = await reader.read()) tap.push(part.value);
}

/**
 * Returns the response with its timing header. Ends the exchange and calls `whenEnded` when the body has been sent or
 * the client has disconnected. A response without a body ends immediately.
 */
export function trackResponse(exchange: Exchange, response: Response, whenEnded: () => void): Response {
  const { status } = response;
  const tap = exchange.responseTap(response.headers.get("content-type"), response.headers.get("content-encoding"));
  let bytes = 0;
  const end = (aborted: boolean): void => {
    exchange.ended({ status, aborted, bytes, tap });
    whenEnded();
  };
  // A copy of an upgrade's response would lose its socket.
  if (status === 101) {
    end(false);
    return response;
  }
  const { body } = response;
  if (!body) end(false);
  const tracked =
    body &&
    observed(
      body,
      (chunk) => {
        bytes += chunk.length;
        tap?.push(chunk);
      },
      (error, aborted) => {
        if (error !== undefined) exchange.failed(error);
        end(aborted);
      },
    );
  const copy = new Response(tracked && sized(tracked, response.headers.get("content-length")), response);
  if (exchange.timingHeader) copy.headers.set(exchange.timingHeader, exchange.timing());
  return copy;
}

/** Returns a stream of the same bytes that calls back for each chunk and at the end. Reads only on demand. */
function observed(
  body: ReadableStream<Uint8Array>,
  onChunk: (chunk: Uint8Array) => void,
  onEnd: (error: unknown, aborted: boolean) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let isOver = false;
  const end = (error: unknown, aborted: boolean): void => {
    if (!isOver) onEnd(error, aborted);
    isOver = true;
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            // A stream that was cancelled during the read cannot be closed.
            if (!isOver) controller.close();
            end(undefined, false);
          } else if (!isOver) {
            onChunk(value);
            controller.enqueue(value);
          }
        } catch (error) {
          end(error, true);
          controller.error(error);
        }
      },
      async cancel(reason) {
        end(undefined, true);
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

interface FixedLength {
  new (length: number): ReadableWritablePair<Uint8Array, Uint8Array>;
}

/** Workers take the length of a body from its stream, not from the header. */
function sized(body: ReadableStream<Uint8Array>, length: string | null): ReadableStream<Uint8Array> {
  // SAFETY: only Workers have a global of this name, and there it is this class.
  const { FixedLengthStream } = globalThis as { FixedLengthStream?: FixedLength };
  return length !== null && FixedLengthStream ? body.pipeThrough(new FixedLengthStream(Number(length))) : body;
}

/** Runs a handler of web-standard `Request` and `Response` within an exchange. Logs and rethrows its errors. */
export async function captureFetch(
  exchange: Exchange,
  request: Request,
  handler: () => Response | Promise<Response>,
  whenEnded: () => void,
): Promise<Response> {
  tapRequest(exchange, request);
  try {
    return trackResponse(exchange, await exchange.run(handler), whenEnded);
  } catch (error) {
    exchange.failed(error);
    exchange.ended({ status: statusOf(error) ?? 500 });
    whenEnded();
    throw error;
  }
}
