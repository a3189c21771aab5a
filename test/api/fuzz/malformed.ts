import fc from "fast-check";
import type { Persona } from "./arbitraries.ts";

/** Bytes that are nearly an HTTP request: a valid one with some bytes changed, or a known trick. */
export function malformed(persona: Persona): fc.Arbitrary<Buffer> {
  const path = `/logger/${persona.projectId}/log`;
  const head = `Host: x\r\nAuthorization: Bearer ${persona.apiKey}\r\nContent-Type: application/json\r\n`;
  const good = Buffer.from(`POST ${path} HTTP/1.1\r\n${head}Content-Length: 15\r\n\r\n{"message":"m"}`);
  const chunked = Buffer.from(
    `POST ${path} HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\nf\r\n{"message":"m"}\r\n0\r\n\r\n`,
  );
  const tricks = [
    `${head}Content-Length: 99999999999999999999\r\n\r\n{}`,
    `${head}Content-Length: -1\r\n\r\n{}`,
    `${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
    `${head}Content-Length: 15\r\nTransfer-Encoding: chunked\r\n\r\n{"message":"m"}`,
    `${head}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}`,
    `${head}Transfer-Encoding: chunked\r\n\r\n5\r\n{"mes`,
    `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    `${head}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    `${head}Content-Length: 50\r\n\r\n{"mess`,
    `${head}Expect: 100-continue\r\nContent-Length: 15\r\n\r\n{"message":"m"}`,
    `${head}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n\r\n`,
    `${head}X: ${"a".repeat(70_000)}\r\n\r\n`,
    "Host: x\r\n folded: header\r\n\r\n",
    "\r\n",
    "Host: a\r\nHost: b\r\n\r\n",
    "Host: [::1\r\n\r\n",
    "Host: \u0000\r\n\r\n",
  ].map((rest) => Buffer.from(`POST ${path} HTTP/1.1\r\n${rest}`, "latin1"));
  const lines = [
    "GET",
    "GET /",
    "GET / HTTP/9.9",
    "GET  / HTTP/1.1",
    "GET http://[/ HTTP/1.1",
    "PRI * HTTP/2.0",
    "\u0016\u0003\u0001",
    "get / http/1.1",
  ].map((line) => Buffer.from(`${line}\r\nHost: x\r\n\r\n`, "latin1"));
  const edit = fc.record({
    at: fc.double({ min: 0, max: 0.999, noNaN: true }),
    byte: fc.nat(255),
    how: fc.constantFrom("set", "insert", "drop", "cut"),
  });
  const edited = fc
    .tuple(fc.constantFrom(good, chunked), fc.array(edit, { minLength: 1, maxLength: 4 }))
    .map(([start, edits]) => {
      let bytes = start;
      for (const { at, byte, how } of edits) {
        const i = Math.floor(at * bytes.length);
        if (how === "cut") bytes = bytes.subarray(0, Math.max(i, 1));
        else {
          const skip = how === "insert" ? 0 : 1;
          bytes = Buffer.concat([
            bytes.subarray(0, i),
            Buffer.from(how === "drop" ? [] : [byte]),
            bytes.subarray(i + skip),
          ]);
        }
      }
      return bytes;
    });
  return fc.oneof(
    { weight: 6, arbitrary: edited },
    { weight: 2, arbitrary: fc.constantFrom(...tricks) },
    { weight: 1, arbitrary: fc.constantFrom(...lines) },
    { weight: 1, arbitrary: fc.uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
    { weight: 1, arbitrary: fc.constantFrom(Buffer.concat([good, good, chunked]), Buffer.concat([chunked, good])) },
  );
}
