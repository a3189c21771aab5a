/** Express on Node: `node server.ts`. Entries are delivered also when the process ends. */
import express from "express";
import { taffrail, taffrailErrors } from "taffrail/express";
import { createLogger } from "taffrail/node";

const logger = createLogger({
  apiUrl: process.env.TAFFRAIL_URL ?? "http://127.0.0.1:8787",
  projectId: process.env.TAFFRAIL_PROJECT ?? "proj_replace_me",
  apiKey: process.env.TAFFRAIL_API_KEY,
  defaultMeta: { service: "shop" },
});

const app = express();

app.use(taffrail(logger));
app.use(express.json());

app.get("/orders/:id", (request, response) => {
  request.log.info("Order looked up", { id: request.params.id });
  response.json({ id: request.params.id, state: "shipped" });
});

app.post("/orders", () => {
  throw new Error("The warehouse does not answer.");
});

app.use(taffrailErrors());

const port = Number(process.env.PORT ?? 3000);
app.listen(port, () => logger.system.startup(`Listening on port ${port}`));
