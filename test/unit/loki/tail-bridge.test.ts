import { expect, test } from "vitest";
import type { StoredEntry } from "../../../src/logs/entry.ts";
import type { LogResult } from "../../../src/logs/loki/run-logs.ts";
import { LokiTailMemory, TailBridge } from "../../../src/routes/loki/tail-bridge.ts";
import { FakeIsolate } from "../tail/support.ts";

const MIB = 1024 * 1024;

/** A socket that counts what is sent to its client. */
class FakeSocket extends EventTarget {
  bytes = 0;
  readonly sent: string[] = [];
  closed: { code: number; reason: string } | null = null;

  accept(): void {}

  send(text: string): void {
    if (this.closed !== null) throw new Error("The socket is closed.");
    this.bytes += Buffer.byteLength(text);
    this.sent.push(text);
  }

  close(code: number, reason = ""): void {
    this.closed ??= { code, reason };
  }
}

const result = (seq: number, line: string): LogResult => {
  const labels = { stream: new Map([["service", "shop"]]), metadata: new Map(), parsed: new Map() };
  return { timestamp: seq, seq, projectId: "proj_a", line, labels };
};

function openTail(memory: LokiTailMemory, projectId: string) {
  const [client, live] = [new FakeSocket(), new FakeSocket()];
  // SAFETY: a bridge uses these members of sockets alone.
  const sockets = [client, live] as unknown as [WebSocket, WebSocket];
  const bridge = new TailBridge(...sockets, ({ seq, message }) => result(seq, message));
  bridge.start(memory.open(projectId, bridge));
  let seq = 1_000_000;
  const commit = (message: string): void => {
    const frame = { type: "logs", entries: [{ seq: seq++, message } as Partial<StoredEntry>] };
    live.dispatchEvent(new MessageEvent("message", { data: JSON.stringify(frame) }));
  };
  return { bridge, client, live, commit };
}

/** Sends entries of two bytes a character to each tail until all have ended. */
function fill(tails: readonly ReturnType<typeof openTail>[]): void {
  for (let round = 0; round < 1000 && tails.some(({ client }) => client.closed === null); round++)
    for (const { commit } of tails) commit("\u00fc".repeat(50_000));
}

test("tails whose clients do not read hold less together than the tails of an isolate may, and are closed with the reason", () => {
  const { shares, pool } = new FakeIsolate(16 * MIB);
  const memory = new LokiTailMemory(shares);
  const tails = ["proj_a", "proj_a", "proj_a", "proj_a", "proj_b"].map((project) => openTail(memory, project));
  for (const { bridge } of tails) bridge.sendHistory([]);
  fill(tails);
  const bytes = (of: typeof tails) => of.reduce((sum, { client }) => sum + client.bytes, 0);
  expect(bytes(tails)).toBe(pool.held);
  expect(bytes(tails)).toBeLessThan(12 * MIB);
  expect(bytes(tails.slice(0, 4))).toBeLessThan(8 * MIB);
  // Another project has room, whatever the tails of the first one hold.
  expect(tails[4]?.client.bytes).toBeGreaterThan(MIB);
  for (const { client, live } of tails) {
    expect(client.closed).toEqual({ code: 1011, reason: expect.stringContaining("No memory is left") });
    expect(live.closed).not.toBeNull();
  }
  // The runtime keeps what a closed client has not read.
  const late = openTail(memory, "proj_a");
  late.bridge.sendHistory([]);
  fill([late]);
  expect(late.client.bytes).toBeLessThan(MIB);
  for (const { client } of [...tails, late]) client.dispatchEvent(new Event("close"));
  expect(pool.held).toBe(0);
  const next = openTail(memory, "proj_a");
  next.bridge.sendHistory([]);
  fill([next]);
  expect(next.client.bytes).toBeGreaterThan(5 * MIB);
});

test("entries that wait for the first ones count", () => {
  const { shares, pool } = new FakeIsolate(16 * MIB);
  const tail = openTail(new LokiTailMemory(shares), "proj_a");
  tail.commit("x".repeat(MIB));
  expect(pool.held).toBeGreaterThan(MIB);
  tail.bridge.sendHistory([]);
  expect(pool.held).toBe(tail.client.bytes);
  const waiting = openTail(new LokiTailMemory(shares), "proj_b");
  fill([waiting]);
  expect(waiting.client.closed?.code).toBe(1011);
  expect(waiting.client.bytes).toBe(0);
  expect(pool.held).toBe(tail.client.bytes);
});

test("the oldest of the first entries that do not fit are reported as dropped", () => {
  const { shares } = new FakeIsolate(16 * MIB);
  const { bridge, client } = openTail(new LokiTailMemory(shares), "proj_a");
  const newestFirst = Array.from({ length: 90 }, (_, at) => result(90 - at, "x".repeat(100_000)));
  bridge.sendHistory(newestFirst);
  expect(client.closed).toBeNull();
  const frames = client.sent.map((text): { streams: { values: string[][] }[]; dropped_entries: unknown[] } =>
    JSON.parse(text),
  );
  const sent = frames.flatMap(({ streams }) => streams.flatMap(({ values }) => values.map(([time]) => time)));
  const dropped = frames.flatMap(({ dropped_entries }) => dropped_entries);
  expect(sent.length).toBeGreaterThan(20);
  expect(sent.length + dropped.length).toBe(90);
  expect(sent.at(-1)).toBe("90000000");
  expect(dropped.at(-1)).toEqual({ timestamp: "1000000", labels: { service: "shop" } });
});
