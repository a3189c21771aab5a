import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { BodyFailed, BodyStream, openBody } from "../../../src/http/body-stream.ts";
import { largeBodies } from "../../../src/platform/isolate-memory.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const GZIP = { "Content-Encoding": "gzip" };

interface Sent {
  size?: number;
  isCut?: boolean;
  headers?: Record<string, string>;
}

/** A body as it arrives from a connection, which may end early. */
function sent(bytes: Uint8Array, { size = 50_000, isCut = false, headers = {} }: Sent = {}): Request {
  const { readable, writable } = new IdentityTransformStream();
  const send = async () => {
    const writer = writable.getWriter();
    for (let at = 0; at < bytes.length; at += size) await writer.write(bytes.slice(at, at + size));
    await (isCut ? writer.abort(new Error("cut")) : writer.close());
  };
  send().catch(() => {});
  return new Request("http://localhost/", { method: "POST", body: readable, headers });
}

async function read(request: Request, limit = 3 * MIB): Promise<{ how: string; bytes?: Uint8Array }> {
  const opened = await openBody(request, limit, { encodings: ["gzip"] });
  if (!(opened instanceof BodyStream)) {
    if (opened.ok) opened.lease.release();
    return opened.ok ? { how: "whole", bytes: opened.bytes } : { how: opened.reason };
  }
  const chunks: Uint8Array[] = [];
  try {
    await opened.reserve(MIB);
    // A copy: `slice` of a Buffer would be a view.
    for await (const chunk of opened.chunks()) chunks.push(new Uint8Array(chunk));
    return { how: "stream", bytes: Buffer.concat(chunks) };
  } catch (error) {
    if (!(error instanceof BodyFailed)) throw error;
    return { how: error.reason };
  } finally {
    opened.release();
  }
}

function noise(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  return bytes;
}

it.each([
  ["of 30 KiB is read whole", 30 * KIB, "whole"],
  ["of 64 KiB and a byte is a stream", 64 * KIB + 1, "stream"],
  ["of exactly the limit is a stream", 3 * MIB, "stream"],
  ["of a byte more is too large", 3 * MIB + 1, "too_large"],
])("issue 16, point 7: a body %s, as sent or inflated, with or without a length", async (_, length, how) => {
  const bytes = new Uint8Array(length).fill(0x61);
  bytes.set(noise(10_000));
  const zipped = gzipSync(bytes);
  expect(zipped.length).toBeLessThan(64 * KIB);
  const forms = [
    sent(bytes),
    sent(bytes, { headers: { "Content-Length": String(length) } }),
    sent(zipped, { headers: GZIP }),
    sent(zipped, { size: 700, headers: { ...GZIP, "Content-Length": String(zipped.length) } }),
  ];
  for (const form of forms) {
    const result = await read(form);
    expect(result.how).toBe(how);
    if (result.bytes) expect(Buffer.compare(result.bytes, bytes)).toBe(0);
  }
  expect(largeBodies.held).toBe(0);
});

it("issue 16, point 7: a large body that ends early, or is no gzip, fails", async () => {
  const bytes = noise(500_000);
  const zipped = gzipSync(bytes);
  expect(zipped.length).toBeGreaterThan(128 * KIB);
  expect((await read(sent(zipped, { headers: GZIP }))).how).toBe("stream");
  expect((await read(sent(bytes, { isCut: true }))).how).toBe("incomplete");
  expect((await read(sent(bytes.subarray(0, 100), { isCut: true }))).how).toBe("incomplete");
  expect((await read(sent(zipped, { isCut: true, headers: GZIP }))).how).toBe("incomplete");
  expect((await read(sent(zipped.subarray(0, -1000), { headers: GZIP }))).how).toBe("bad_encoding");
  expect((await read(sent(bytes, { headers: GZIP }))).how).toBe("bad_encoding");
  expect((await read(sent(bytes, { headers: { "Content-Encoding": "br" } }))).how).toBe("unknown_encoding");
  expect(largeBodies.held).toBe(0);
});

it("issue 16, point 7: a body that inflates a thousandfold is inflated as it is read, and stopped at the limit", async () => {
  const bomb = gzipSync(new Uint8Array(60 * MIB));
  const opened = await openBody(sent(bomb, { headers: GZIP }), 20 * MIB, { encodings: ["gzip"] });
  if (!(opened instanceof BodyStream)) throw new Error("The body is not a stream.");
  let size = 0;
  let largest = 0;
  const readAll = async () => {
    for await (const chunk of opened.chunks()) {
      size += chunk.length;
      largest = Math.max(largest, chunk.length);
    }
  };
  await expect(readAll()).rejects.toMatchObject({ reason: "too_large" });
  expect(size).toBe(20 * MIB);
  expect(largest).toBeLessThanOrEqual(64 * KIB);
  opened.release();
});
