/** Fastify on Node with Taffrail's logger: `node server.ts`. `request.log` is a child logger. */
import Fastify from "fastify";
import { createLogger } from "taffrail/node";

const logger = createLogger({
  apiUrl: process.env.TAFFRAIL_URL ?? "http://127.0.0.1:8787",
  projectId: process.env.TAFFRAIL_PROJECT ?? "proj_replace_me",
  apiKey: process.env.TAFFRAIL_API_KEY,
  defaultMeta: { service: "shop" },
});

const app = Fastify({ loggerInstance: logger });

app.get<{ Params: { id: string } }>("/orders/:id", async (request) => {
  request.log.info({ id: request.params.id }, "Order looked up");
  return { id: request.params.id, state: "shipped" };
});

app.post("/orders", async () => {
  throw new Error("The warehouse does not answer.");
});

await app.listen({ port: Number(process.env.PORT ?? 3000) });
