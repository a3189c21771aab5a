import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { attempt, retryAfterOf } from "../../../src/alerts/notifications/attempt.ts";

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** Starts a receiver and returns its URL. */
async function receiver(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // SAFETY: it listens on a TCP port.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const send = (url: string, timeMs?: number) =>
  attempt(fetch, { url, headers: { "webhook-id": "n1" }, body: "{}" }, Date.now, timeMs);

describe("an attempt", () => {
  it("delivers a POST of JSON with its headers, and keeps what the receiver answers", async () => {
    const seen: unknown[] = [];
    const url = await receiver((request, response) => {
      seen.push(request.method, request.headers["content-type"], request.headers["webhook-id"]);
      response.end("thank\u0007 you");
    });
    expect(await send(url)).toEqual({
      outcome: "delivered",
      answer: { status: 200, text: "thank  you", ms: expect.any(Number), error: null },
      retryAfter: null,
    });
    expect(seen).toEqual(["POST", "application/json", "n1"]);
  });

  it.each([
    [500, "failed"],
    [400, "failed"],
    [404, "failed"],
    [429, "failed"],
    [410, "gone"],
    [204, "delivered"],
  ] as const)("of a receiver that answers %i is %s", async (status, outcome) => {
    const url = await receiver((_, response) => response.writeHead(status).end());
    const { outcome: is, answer } = await send(url);
    expect([is, answer.status, answer.error === null]).toEqual([outcome, status, outcome === "delivered"]);
  });

  it("waits as long as a receiver asks, at most a day", async () => {
    const url = await receiver((_, response) => response.writeHead(429, { "retry-after": "120" }).end());
    expect((await send(url)).retryAfter).toBe(120_000);
    expect(retryAfterOf("999999999", 0)).toBe(86_400_000);
    expect(retryAfterOf("Thu, 01 Jan 1970 00:01:00 GMT", 0)).toBe(60_000);
    for (const text of [null, "", "soon", "-5", "0", "1.5"])
      expect([text, retryAfterOf(text, 0)]).toEqual([text, null]);
  });

  it("does not follow a redirect", async () => {
    const seen: string[] = [];
    const url = await receiver((request, response) => {
      seen.push(request.url ?? "");
      response.writeHead(307, { location: "/elsewhere" }).end();
    });
    expect(await send(url)).toMatchObject({
      outcome: "failed",
      answer: { status: 307, error: "307: redirects are not followed." },
    });
    expect(seen).toEqual(["/"]);
  });

  it("ends at its time limit if the receiver answers nothing", async () => {
    const url = await receiver(() => {});
    expect(await send(url, 100)).toMatchObject({
      outcome: "failed",
      answer: { status: null, error: "No response within 0.1 seconds." },
    });
  });

  it("is delivered if the receiver has answered 200 and never ends its body", async () => {
    const url = await receiver((_, response) => void response.writeHead(200).write("partly"));
    expect(await send(url, 1000)).toMatchObject({ outcome: "delivered", answer: { status: 200, text: "partly" } });
  });

  it("reads 4 KiB of a body without end, and keeps 1,000 characters", async () => {
    let closed: () => void = () => {};
    const over = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const url = await receiver((_, response) => {
      const more = () => {
        while (response.write("x".repeat(65_536)));
      };
      response.on("drain", more).on("close", () => closed());
      more();
    });
    const { outcome, answer } = await send(url);
    expect([outcome, answer.text]).toEqual(["delivered", "x".repeat(1000)]);
    await over;
  });

  it("fails without a connection", async () => {
    const url = await receiver(() => {});
    const server = servers.splice(0)[0];
    await new Promise((resolve) => server?.close(resolve));
    expect(await send(url)).toMatchObject({
      outcome: "failed",
      answer: { status: null, error: expect.stringMatching(/^No connection/) },
    });
  });
});
