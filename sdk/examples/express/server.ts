/** Express on Node: `node server.ts`. What is logged is sent when the process ends, too. */
import express from "express";
import { type CapturedRequest, taffrail, taffrailErrors } from "taffrail/express";
import { createLogger } from "taffrail/node";

const logger = createLogger({
  apiUrl: process.env.TAFFRAIL_URL ?? "http://127.0.0.1:8787",
  projectId: process.env.TAFFRAIL_PROJECT ?? "proj_replace_me",
  apiKey: process.env.TAFFRAIL_API_KEY ?? "",
  defaultMeta: { service: "shop" },
});

const app = express();

app.use(taffrail(logger));
app.use(express.json());

app.get("/orders/:id", (request: CapturedRequest & express.Request, response) => {
  request.log?.info("Order looked up", { id: request.params.id });
  response.json({ id: request.params.id, state: "shipped" });
});

app.post("/orders", () => {
  throw new Error("The warehouse does not answer.");
});

app.use(taffrailErrors());

app.listen(3000, () => logger.system.startup("Listening on port 3000"));
