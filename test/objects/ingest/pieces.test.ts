import { expect, it } from "vitest";
import { readBody } from "../../../src/http/body.ts";

const MIB = 1024 * 1024;

/** A body as it arrives from a connection, in pieces of these sizes. */
function sent(bytes: Uint8Array, sizes: () => number): Request {
  const { readable, writable } = new IdentityTransformStream();
  const send = async () => {
    const writer = writable.getWriter();
    for (let at = 0; at < bytes.length; ) {
      const end = Math.min(bytes.length, at + sizes());
      await writer.write(bytes.subarray(at, end));
      at = end;
    }
    await writer.close();
  };
  void send();
  return new Request("http://localhost/", { method: "POST", body: readable });
}

it.each([
  ["small", () => 1 + Math.floor(Math.random() * 900), 200_000],
  ["large", () => 50_000 + Math.floor(Math.random() * 100_000), 3_000_000],
  ["small and large", () => Math.ceil(2 ** (Math.random() * 17)), 1_000_000],
] as const)("A1: a body in %s pieces is what was sent", async (_, sizes, length) => {
  const bytes = Uint8Array.from({ length }, (_, at) => (at * 31 + (at >> 8)) % 256);
  const result = await readBody(sent(bytes, sizes), 4 * MIB);
  if (!result.ok) throw new Error(result.reason);
  expect(Buffer.compare(result.bytes, bytes)).toBe(0);
  result.lease.release();
});
