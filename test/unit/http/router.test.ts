import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { LiteralFirstRouter } from "../../../src/http/pipeline.ts";

/** A small application with its routes registered in a given order; each response names the middleware and handler. */
function appOf(paths: readonly string[]): Hono {
  const app = new Hono({ router: new LiteralFirstRouter() });
  app.use("*", async (c, next) => {
    await next();
    c.res.headers.set("X-Frame", "yes");
  });
  for (const path of paths) app.post(path, (c) => c.text(`${path} ${c.req.param("projectId") ?? ""}`));
  app.get("/logger/query", (c) => c.text("get"));
  app.notFound((c) => c.text("nothing", 404));
  return app;
}

describe("LiteralFirstRouter", () => {
  const paths = ["/logger/query", "/logger/:projectId/log", "/logger/:projectId/log/:logId", "/logger/stats"];

  it.each([[paths], [paths.toReversed()]])("finds each route, registered as %j", async (order) => {
    const app = appOf(order);
    // Two rounds, because the router caches the first match of a literal path.
    for (let round = 0; round < 2; round++) {
      for (const [method, path, expected] of [
        ["POST", "/logger/query", "/logger/query "],
        ["GET", "/logger/query", "get"],
        ["POST", "/logger/stats", "/logger/stats "],
        ["GET", "/logger/stats", "nothing"],
        ["POST", "/logger/proj_1/log", "/logger/:projectId/log proj_1"],
        ["POST", "/logger/query/log", "/logger/:projectId/log query"],
        ["POST", "/logger/proj_2/log/log_3", "/logger/:projectId/log/:logId proj_2"],
        ["POST", "/logger/query/", "nothing"],
        ["POST", "/logger", "nothing"],
        ["DELETE", "/logger/query", "nothing"],
      ] as const) {
        const response = await app.request(path, { method });
        expect([method, path, await response.text()]).toEqual([method, path, expected]);
        expect(response.headers.get("X-Frame")).toBe("yes");
      }
    }
  });
});
