import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FrameReader } from "../../../bench/load/frame-reader.ts";
import { KnownFrames } from "../../../bench/load/known-frames.ts";
import { TailClient } from "../../../bench/load/tail-client.ts";

const TEXT = 0x81;

/** A frame as a server sends it: whole, and not masked. */
function frame(payload: string | Buffer, first = TEXT): Buffer {
  const body = Buffer.from(payload);
  const header = [first, Math.min(body.length, 126)];
  if (body.length < 126) return Buffer.concat([Buffer.from(header), body]);
  const long = Buffer.alloc(body.length < 65_536 ? 2 : 8);
  if (long.length === 2) long.writeUInt16BE(body.length);
  else {
    header[1] = 127;
    long.writeBigUInt64BE(BigInt(body.length));
  }
  return Buffer.concat([Buffer.from(header), long, body]);
}

const logs = (seqs: readonly number[], message = "m") =>
  frame(JSON.stringify({ type: "logs", entries: seqs.map((seq) => ({ id: `log_${seq}`, message, seq })) }));
const caughtUp = (seq: number) => frame(JSON.stringify({ type: "caught-up", seq }));

describe("the frames of a benchmark's tail", () => {
  it("are parsed independent of chunk boundaries and of predicted bytes", () => {
    const part = fc.record({
      payload: fc.oneof(
        fc.string({ maxLength: 300 }).map((text) => Buffer.from(text)),
        fc.integer({ min: 65_000, max: 66_000 }).map((length) => Buffer.alloc(length, "x")),
      ),
      /** The position at which the expected bytes differ; -1 if they do not, `null` if no bytes are expected. */
      differsAt: fc.oneof(fc.constant(null), fc.constant(-1), fc.nat({ max: 70_000 })),
    });
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), fc.array(fc.integer({ min: 1, max: 70_000 })), (parts, cuts) => {
        const expected = parts.map(({ payload, differsAt }) => {
          if (differsAt === null) return null;
          const other = Buffer.from(payload);
          if (differsAt >= 0 && differsAt < other.length) other[differsAt] = (other[differsAt] ?? 0) ^ 1;
          return other;
        });
        let next = 0;
        const taken: Buffer[] = [];
        const reader = new FrameReader({
          expected: () => expected[next++] ?? null,
          take: (_opcode, payload) => {
            const { length } = taken;
            const isExpected = expected[length]?.equals(parts[length]?.payload ?? Buffer.alloc(0)) === true;
            expect(payload === expected[length]).toBe(isExpected);
            taken.push(Buffer.from(payload));
          },
        });
        const bytes = Buffer.concat(parts.map(({ payload }) => frame(payload)));
        const chunk = Buffer.alloc(70_000);
        for (let at = 0, cut = 0; at < bytes.length; cut++) {
          const length = bytes.copy(chunk, 0, at, at + (cuts[cut % Math.max(1, cuts.length)] ?? 70_000));
          reader.read(chunk.subarray(0, length));
          chunk.fill(0);
          at += length;
        }
        expect(taken).toEqual(parts.map(({ payload }) => payload));
      }),
      { numRuns: 50 },
    );
  });
});

describe("a benchmark's tail", () => {
  let server: Server;
  let sockets: Socket[];
  const heard: string[] = [];

  beforeEach(async () => {
    sockets = [];
    heard.length = 0;
    server = createServer((socket) => {
      socket.once("data", () => {
        // The first frame may come with the response.
        socket.write(Buffer.concat([Buffer.from("HTTP/1.1 101 Switching Protocols\r\nA: b\r\n\r\n"), caughtUp(0)]));
        socket.on("data", (data) => heard.push(data.subarray(6).toString("utf8")));
        sockets.push(socket);
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });

  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  const known = () => new KnownFrames();
  const open = (frames = known()) => {
    // SAFETY: a server that listens on a port has an address of this kind.
    const { port } = server.address() as AddressInfo;
    return TailClient.open(`http://127.0.0.1:${port}`, "/tail", "Bearer x", frames);
  };
  const got = async (tail: TailClient, last: number) => {
    await vi.waitFor(() => expect(tail.last >= last || tail.ended !== null).toBe(true));
    await setImmediate();
    return { last: tail.last, ended: tail.ended };
  };

  it("records that each entry arrived, parses the first tail's frames only, and acknowledges", async () => {
    const frames = known();
    const add = vi.spyOn(frames, "add");
    const tails = [await open(frames), await open(frames), await open(frames)];
    const all = Array.from({ length: 600 }, (_, i) => i + 1);
    for (const [at, tail] of tails.entries()) {
      sockets[at]?.write(Buffer.concat([logs(all.slice(0, 40)), logs(all.slice(40))]));
      expect(await got(tail, 600)).toEqual({ last: 600, ended: null });
    }
    expect(add).toHaveBeenCalledTimes(2);
    await vi.waitFor(() => expect(heard).toEqual(Array(3).fill('{"type":"ack","seq":600}')));
  });

  it("accepts frames that are cut differently from another tail's or have other bytes", async () => {
    const frames = known();
    const tails = [await open(frames), await open(frames), await open(frames)];
    sockets[0]?.write(Buffer.concat([logs([1, 2, 3]), logs([4, 5])]));
    sockets[1]?.write(Buffer.concat([logs([1, 2]), logs([3, 4, 5])]));
    sockets[2]?.write(Buffer.concat([logs([1, 2, 3], "n"), logs([4, 5])]));
    for (const tail of tails) expect(await got(tail, 5)).toEqual({ last: 5, ended: null });
  });

  it.each([
    ["a missing entry", [logs([1, 2, 4])], { last: 0, ended: "4 came after 2" }],
    ["a missing frame", [logs([1, 2]), logs([5])], { last: 2, ended: "5 came after 2" }],
    ["a duplicate entry", [logs([1, 2, 2])], { last: 0, ended: "2 came after 2" }],
    ["a duplicate frame", [logs([1, 2]), logs([1, 2])], { last: 2, ended: "1 came after 2" }],
    ["entries out of order", [logs([2, 1])], { last: 0, ended: "2 came after 0" }],
    ["a wrong position", [logs([1, 2]), caughtUp(3)], { last: 2, ended: "caught up with 3, and has come to 2" }],
    ["a close", [logs([1]), frame(Buffer.from("\x0f\xa8since=1", "latin1"), 0x88)], { last: 1, ended: "4008 since=1" }],
    ["an error", [frame('{"type":"error","code":"X"}')], { last: 0, ended: '{"type":"error","code":"X"}' }],
  ])("detects %s, even if another tail received everything correctly", async (_name, sent, expected) => {
    const frames = known();
    const right = await open(frames);
    const tail = await open(frames);
    sockets[0]?.write(Buffer.concat([logs([1, 2]), logs([3, 4]), logs([5])]));
    await got(right, 5);
    sockets[1]?.write(Buffer.concat(sent));
    await vi.waitFor(() => expect(tail.ended).not.toBeNull());
    expect({ last: tail.last, ended: tail.ended }).toEqual(expected);
  });

  it("reports why it was refused, and that a connection was lost", async () => {
    const tail = await open();
    sockets[0]?.destroy();
    expect((await got(tail, 1)).ended).toBe("the connection was lost");
    server.removeAllListeners("connection");
    server.on("connection", (socket) => socket.end("HTTP/1.1 403 Forbidden\r\n\r\n"));
    await expect(open()).rejects.toThrow("403");
  });
});
