import { expect, test } from "vitest";
import { readBody } from "../../../src/http/body.ts";
import { smallBodies } from "../../../src/platform/isolate-memory.ts";

const MIB = 1024 * 1024;

/** A body that arrives byte by byte, and the peak memory of buffers beside it. */
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

function requestOf(body: ReadableStream, length?: number): Request {
  const headers: Record<string, string> = length === undefined ? {} : { "Content-Length": String(length) };
  // The type in use lacks `duplex`, which Node's `Request` requires.
  const options: RequestInit & { duplex: "half" } = { method: "POST", headers, body, duplex: "half" };
  return new Request("http://localhost/", options);
}

test("A1: a body that arrives byte by byte holds about its size", async () => {
  const { request, most } = trickle(40_000);
  const result = await readBody(request, MIB);
  if (!result.ok) throw new Error(result.reason);
  expect(Array.from(result.bytes)).toEqual(Array.from({ length: 40_000 }, (_, at) => at % 251));
  expect(most()).toBeLessThan(MIB);
  result.lease.release();
});

/** Stalled connections that have sent one byte each. @param length announced by each of them */
function standing(connections: number, length?: number) {
  return Array.from({ length: connections }, () => {
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
    const result = readBody(requestOf(body, length), MIB);
    send(new Uint8Array([7]));
    return { result, end };
  });
}

test("A1: a stalled connection holds little more than it has sent", async () => {
  const before = process.memoryUsage().arrayBuffers;
  const connections = 2000;
  const bodies = standing(connections);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(connections * 5.5 * 1024);
  for (const { end } of bodies) end();
  for (const { result: received } of bodies) {
    const result = await received;
    expect(result).toMatchObject({ ok: true, bytes: new Uint8Array([7]) });
    if (result.ok) result.lease.release();
  }
});

test("A1: connections that announce a body and send none hold at most half of the pool, and leave the rest to others", async () => {
  const before = process.memoryUsage().arrayBuffers;
  const connections = 500;
  const length = 64 * 1024;
  const bodies = standing(connections, length);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(smallBodies.capacity / 2 + connections * 5.5 * 1024);
  expect(smallBodies.held).toBeLessThanOrEqual(smallBodies.capacity / 2 + connections);
  const other = await readBody(new Request("http://localhost/", { method: "POST", body: "another" }), MIB);
  expect(other).toMatchObject({ ok: true });
  if (other.ok) other.lease.release();
  for (const { end } of bodies) end();
  for (const result of await Promise.all(bodies.map((body) => body.result))) if (result.ok) result.lease.release();
  expect(smallBodies.held).toBe(0);
});

test("A1: a body of a known length is read into one buffer, without a read that only finds its end", async () => {
  const length = 50_000;
  const bytes = Uint8Array.from({ length }, (_, at) => at % 251);
  const sizes = new Set<number>();
  let reads = 0;
  let sent = 0;
  const body = new ReadableStream({
    type: "bytes",
    pull(controller) {
      const view = controller.byobRequest?.view;
      if (!(view instanceof Uint8Array)) throw new Error("The body is not read into buffers.");
      reads++;
      sizes.add(view.buffer.byteLength);
      const now = Math.min(view.byteLength, 20_000);
      view.set(bytes.subarray(sent, sent + now));
      sent += now;
      controller.byobRequest?.respond(now);
    },
  });
  const result = await readBody(requestOf(body, length), MIB);
  if (!result.ok) throw new Error(result.reason);
  expect(result.bytes).toEqual(bytes);
  expect(result.lease.bytes).toBe(length);
  expect(reads).toBe(3);
  expect([...sizes]).toEqual([length]);
  result.lease.release();
});
