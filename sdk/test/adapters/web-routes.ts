import { once } from "node:events";
import { type ServerType, serve } from "@hono/node-server";
import type { Logger } from "../../src/index.ts";
import { sleep } from "../support/sink.ts";
import { BOOM, CHUNKS, INSIDE, PAUSE_MS, type Running, TEAPOT } from "./matrix.ts";

/** The routes of the matrix as a handler of web-standard `Request` and `Response`. */
export async function routes(request: Request, logger: Logger): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (request.method === "OPTIONS") return new Response(null, { status: 204 });
  switch (pathname) {
    case "/ok":
      await sleep(5);
      logger.info(INSIDE);
      return new Response("ok");
    case "/health":
    case "/ready":
    case "/favicon.ico":
      return new Response("fine");
    case "/moved":
      return new Response(null, { status: 302, headers: { Location: "/ok" } });
    case "/throws":
      throw BOOM;
    case "/refused":
      throw TEAPOT;
    case "/echo":
      return Response.json(await request.json());
    case "/slow":
      await sleep(1000);
      return new Response("late");
    case "/stream":
      return streamed(CHUNKS, PAUSE_MS);
    case "/endless":
      return streamed(undefined, 10);
    default:
      return new Response("nothing here", { status: 404 });
  }
}

/** A stream of text. Without `chunks` it never ends. */
export function streamed(chunks: readonly string[] | undefined, pause: number): Response {
  const encoder = new TextEncoder();
  let n = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (chunks && n === chunks.length) return controller.close();
      if (n > 0) await sleep(pause);
      controller.enqueue(encoder.encode(chunks?.[n] ?? "again "));
      n++;
    },
  });
  return new Response(body, { headers: { "Content-Type": "text/plain" } });
}

/** Serves a handler over HTTP, and handles its errors like a framework. */
export async function serveWeb(handler: (request: Request) => Response | Promise<Response>): Promise<Running> {
  const errors: unknown[] = [];
  const server: ServerType = serve({
    async fetch(request) {
      try {
        return await handler(request);
      } catch (error) {
        if (error === BOOM) errors.push(error);
        return new Response("failed", { status: error === TEAPOT ? 418 : 500 });
      }
    },
    port: 0,
    hostname: "127.0.0.1",
  });
  if (!server.listening) await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("No port.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    errors,
    async close() {
      if ("closeAllConnections" in server) server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
