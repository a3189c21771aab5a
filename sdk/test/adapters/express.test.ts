import { once } from "node:events";
import type { RequestListener } from "node:http";
import { createServer } from "node:http";
import express from "express";
import express4 from "express4";
import { taffrail, taffrailErrors } from "../../src/adapters/express.ts";
import { sleep } from "../support/sink.ts";
import { BOOM, CHUNKS, INSIDE, matrix, PAUSE_MS, type Peer, type Running, TEAPOT } from "./matrix.ts";

/** The routes pass errors to `next`, because the two major versions handle rejected promises differently. */
function peer(name: string, framework: typeof express): Peer {
  return {
    name,
    async start(logger, options) {
      const errors: unknown[] = [];
      const app = framework();
      app.use(taffrail(logger, options));
      app.use(framework.json({ limit: "1mb" }));
      app.get("/ok", async (_request, response) => {
        await sleep(5);
        logger.info(INSIDE);
        response.send("ok");
      });
      app.options("/ok", (_request, response) => void response.sendStatus(204));
      app.get(["/health", "/ready", "/favicon.ico"], (_request, response) => void response.send("fine"));
      app.get("/moved", (_request, response) => response.redirect("/ok"));
      app.get("/throws", () => {
        throw BOOM;
      });
      app.get("/refused", async (_request, _response, next) => {
        await sleep(1);
        next(TEAPOT);
      });
      app.post("/echo", (request, response) => void response.json(request.body));
      app.get("/slow", async (_request, response) => {
        await sleep(1000);
        response.send("late");
      });
      app.get("/stream", async (_request, response) => {
        response.type("text/plain");
        for (const chunk of CHUNKS) {
          response.write(chunk);
          await sleep(PAUSE_MS);
        }
        response.end();
      });
      app.get("/endless", async (_request, response) => {
        response.type("text/plain");
        while (!response.closed) {
          response.write("again ");
          await sleep(10);
        }
      });
      app.use(taffrailErrors());
      app.use(((error, _request, response, next) => {
        if (error === BOOM) errors.push(error);
        if (response.headersSent) return next(error);
        response.status(error.status ?? 500).send("failed");
      }) satisfies express.ErrorRequestHandler);
      return listen(app, errors);
    },
  };
}

async function listen(listener: RequestListener, errors: unknown[]): Promise<Running> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("No port.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    errors,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

matrix(peer("Express 5", express));
matrix(peer("Express 4", express4));
