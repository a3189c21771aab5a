import { expect, test } from "vitest";
import { readBody } from "../../../src/http/body.ts";

const MIB = 1024 * 1024;

/** A body of bytes that come one at a time, and what buffers hold beside it meanwhile. */
function trickle(total: number) {
  let sent = 0;
  let most = 0;
  const before = process.memoryUsage().arrayBuffers;
  const body = new ReadableStream({
    type: "bytes",
    pull(controller) {
      const view = controller.byobRequest?.view;
      if (!(view instanceof Uint8Array)) throw new Error("The body is not read into buffers.");
      if (sent === total) {
        controller.close();
        controller.byobRequest?.respond(0);
        return;
      }
      view[0] = sent++ % 251;
      controller.byobRequest?.respond(1);
      if (sent % 1000 === 0) most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    },
  });
  return { request: requestOf(body), most: () => most };
}

function requestOf(body: ReadableStream): Request {
  // Node's own type of the options has `duplex`, which its `Request` asks for; the type that is here lacks it.
  const options: RequestInit & { duplex: "half" } = { method: "POST", body, duplex: "half" };
  return new Request("http://localhost/", options);
}

test("A1: a body that comes byte by byte holds about its own bytes", async () => {
  const { request, most } = trickle(40_000);
  const result = await readBody(request, MIB);
  if (!result.ok) throw new Error(result.reason);
  expect(Array.from(result.bytes)).toEqual(Array.from({ length: 40_000 }, (_, at) => at % 251));
  expect(most()).toBeLessThan(MIB);
});

test("A1: a connection that stands still holds little more than it has sent", async () => {
  const before = process.memoryUsage().arrayBuffers;
  const connections = 2000;
  const bodies = Array.from({ length: connections }, () => {
    let send: (bytes: Uint8Array<ArrayBuffer>) => void = () => {};
    let end = () => {};
    const body = new ReadableStream({
      type: "bytes",
      start(controller) {
        send = (bytes) => controller.enqueue(bytes);
        end = () => {
          controller.close();
          controller.byobRequest?.respond(0);
        };
      },
    });
    const result = readBody(requestOf(body), MIB);
    send(new Uint8Array([7]));
    return { result, end };
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(connections * 5.5 * 1024);
  for (const { end } of bodies) end();
  for (const { result } of bodies) expect(await result).toMatchObject({ ok: true, bytes: new Uint8Array([7]) });
});
