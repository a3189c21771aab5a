/** A Worker with Hono: `wrangler dev`. Each request delivers its entries after its response. */
import { Hono } from "hono";
import { createLogger, type Logger } from "taffrail";
import { taffrail } from "taffrail/hono";

interface Env {
  /** `wrangler secret put TAFFRAIL_API_KEY` */
  TAFFRAIL_API_KEY: string;
  TAFFRAIL_URL: string;
  TAFFRAIL_PROJECT: string;
}

let logger: Logger | undefined;

/** One logger for all requests of the isolate, created with the first, which brings the key. */
function loggerOf(env: Env): Logger {
  logger ??= createLogger({
    apiUrl: env.TAFFRAIL_URL,
    projectId: env.TAFFRAIL_PROJECT,
    apiKey: env.TAFFRAIL_API_KEY,
    defaultMeta: { service: "shop" },
  });
  return logger;
}

const app = new Hono<{ Bindings: Env; Variables: { logger: Logger } }>();

app.use(taffrail((c) => loggerOf(c.env)));

app.get("/orders/:id", (c) => {
  const id = c.req.param("id");
  c.get("logger").info("Order looked up", { id });
  return c.json({ id, state: "shipped" });
});

app.post("/orders", () => {
  throw new Error("The warehouse does not answer.");
});

export default app;
