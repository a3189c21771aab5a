import type { IncomingMessage, ServerResponse } from "node:http";
import type { BodyTap } from "../capture/body.ts";
import type { Exchange } from "../capture/exchange.ts";

/** Copies the chunks of the request's body to its tap, independent of the reader and its method. */
export function tapNodeRequest(exchange: Exchange, request: IncomingMessage): void {
  const { requestTap } = exchange;
  if (!requestTap) return;
  const push = request.push;
  request.push = (chunk, encoding) => {
    if (chunk === null) exchange.requestRead();
    else requestTap.push(chunk);
    return push.call(request, chunk, encoding);
  };
}

/**
 * Sets the timing header when the response begins, copies its body to a tap, and ends the exchange with the response.
 */
export function watchNodeResponse(exchange: Exchange, response: ServerResponse): void {
  const { writeHead, write, end } = response;
  let tap: BodyTap | undefined;
  let bytes = 0;

  /** Called when the headers are complete. */
  function started(): void {
    const { timingHeader } = exchange;
    if (timingHeader && !response.headersSent) response.setHeader(timingHeader, exchange.timing());
  }

  function seen(chunk: unknown, encoding: unknown): void {
    if (chunk === undefined || chunk === null || typeof chunk === "function") return;
    const data = typeof chunk === "string" ? Buffer.from(chunk, encodingOf(encoding)) : chunk;
    if (!(data instanceof Uint8Array)) return;
    if (bytes === 0) {
      const header = (name: string): string => String(response.getHeader(name) ?? "");
      tap = exchange.responseTap(header("content-type"), header("content-encoding"));
    }
    bytes += data.length;
    tap?.push(data);
  }

  // SAFETY: each wrapper passes on exactly its arguments, of whichever overload.
  response.writeHead = ((...args: Parameters<typeof writeHead>) => {
    started();
    return writeHead.apply(response, args);
  }) as typeof writeHead;
  response.write = ((...args: Parameters<typeof write>) => {
    seen(args[0], args[1]);
    return write.apply(response, args);
  }) as typeof write;
  response.end = ((...args: Parameters<typeof end>) => {
    seen(args[0], args[1]);
    return end.apply(response, args);
  }) as typeof end;
  response.once("close", () => {
    exchange.ended({ status: response.statusCode, aborted: !response.writableFinished, bytes, tap });
  });
}

function encodingOf(encoding: unknown): BufferEncoding {
  return typeof encoding === "string" && Buffer.isEncoding(encoding) ? encoding : "utf8";
}
