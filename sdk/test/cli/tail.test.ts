import { afterEach, expect, test } from "vitest";
import { connect } from "../../src/cli/websocket.ts";
import { type Env, type Program, start } from "./program.ts";
import { type Opened, startTailService, type TailService } from "./tail-service.ts";

let service: TailService;
afterEach(() => service.close());

const env = (): Env => ({ TAFFRAIL_URL: service.url, TAFFRAIL_API_KEY: "sk_planted", TAFFRAIL_PROJECT: "proj_1" });
const entry = (seq: number, data?: object) => ({
  seq,
  timestamp: "2026-11-20T14:00:00.000Z",
  level: "info",
  category: "custom",
  type: "log",
  message: `m${seq}`,
  ...(data ? { data } : {}),
});
const logs = (...seqs: number[]) => ({ type: "logs", entries: seqs.map((seq) => entry(seq)) });
const caughtUp = (seq: number) => ({ type: "caught-up", seq });
const seqs = (program: Program) => program.lines().map((line): unknown => JSON.parse(line).seq);

async function serve(
  onTail: (tail: Opened, number: number) => void,
  refuse?: (number: number) => { head: string; body: object } | undefined,
): Promise<void> {
  service = await startTailService(onTail, refuse);
}

test("continues after the last written entry, however the connection was lost", async () => {
  await serve((tail, number) => {
    switch (number) {
      case 0:
        tail.send(caughtUp(10));
        tail.send(logs(11, 12));
        setTimeout(() => tail.socket.destroy(), 100);
        return;
      case 1:
        tail.send(logs(13));
        tail.close(4008, "since=13");
        return;
      case 2:
        tail.send(logs(14));
        tail.send(caughtUp(20));
        tail.close(1011, "since=20");
        return;
      case 3:
        tail.socket.write(Buffer.from([0x81, 0x85, 0, 0, 0, 0]));
        return;
      default:
        tail.send(logs(21));
    }
  });
  const program = start(["tail", "--json", "--limit", "5"], env());
  const { code, err } = await program.ended;
  expect(code).toBe(0);
  expect(seqs(program)).toEqual([11, 12, 13, 14, 21]);
  expect(service.opened.map(({ query }) => query)).toEqual(["", "since=12", "since=13", "since=20", "since=20"]);
  expect(err).toMatch(/The connection was lost \(1006.*\)\. Retrying in 0\.\d s\./);
  expect(err).toContain("Reconnected after seq 12.");
  expect(err).toContain("The tail fell too far behind. Reconnecting.");
  expect(err).toContain("The connection was lost (1006, A server's frame was masked.)");
  expect(err).toContain("Seen up to seq 21. To continue after it: --since seq:21");
});

test("acknowledges every frame after its entries were written", async () => {
  const acks: unknown[] = [];
  await serve((tail) => {
    tail.socket.on("data", (chunk: Buffer) => {
      // Masked texts of less than 126 bytes, possibly several in one chunk.
      for (let at = 0; at < chunk.length; ) {
        const length = (chunk[at + 1] ?? 0) & 0x7f;
        const mask = chunk.subarray(at + 2, at + 6);
        const payload = chunk.subarray(at + 6, at + 6 + length).map((byte, i) => byte ^ (mask[i & 3] ?? 0));
        if (chunk[at] === 0x81) acks.push(JSON.parse(Buffer.from(payload).toString()));
        at += 6 + length;
      }
    });
    tail.send(caughtUp(4));
    tail.send(logs(5, 7));
    tail.send(caughtUp(9));
  });
  const program = start(["tail"], env());
  await program.until(() => acks.length === 3);
  expect(acks).toEqual([4, 7, 9].map((seq) => ({ type: "ack", seq })));
  program.child.kill("SIGTERM");
  expect(await program.ended).toMatchObject({ code: 0 });
});

test("applies tests on data to a tail", async () => {
  await serve((tail) => {
    tail.send({ type: "logs", entries: [entry(1, { ms: 5 }), entry(2), entry(3, { ms: 50 }), entry(4, { ms: 7 })] });
  });
  const args = ["tail", "--json", "--data", "ms<10", "--level", "info,warn", "--search", "ä&", "--since", "seq:0"];
  const program = start([...args, "--limit", "2"], env());
  expect(await program.ended).toMatchObject({ code: 0 });
  expect(seqs(program)).toEqual([1, 4]);
  expect(service.opened[0]?.query).toBe("level=info&level=warn&search=%C3%A4%26&since=0");
});

test("ends on close code 4001 with a message", async () => {
  await serve((tail) => {
    tail.send(logs(3));
    tail.send({ type: "error", code: "API_KEY_REVOKED" });
    tail.close(4001, "API_KEY_REVOKED");
  });
  const { code, err } = await start(["tail"], env()).ended;
  expect(code).toBe(3);
  expect(err).toContain("taffrail: The service ended the tail: the key has been revoked (API_KEY_REVOKED).");
  expect(err).toContain("--since seq:3");
});

test("retries after a temporary refusal, and ends after a permanent one", async () => {
  const refusal = (head: string, code: string, message: string) => ({
    head,
    body: { success: false, error: { code, message } },
  });
  await serve(
    (tail) => tail.send(logs(1)),
    (number) =>
      [
        refusal("503 Service Unavailable\r\nRetry-After: 0", "SERVICE_UNAVAILABLE", "Later."),
        refusal("429 Too Many Requests\r\nRetry-After: 1", "RATE_LIMITED", "Too many requests"),
        undefined,
        refusal("404 Not Found", "NOT_FOUND", "Project not found."),
      ][number],
  );
  const first = await start(["tail", "--limit", "1"], env()).ended;
  expect(first).toMatchObject({ code: 0, out: expect.stringContaining("m1") });
  expect(first.err).toContain("Too many requests (429 RATE_LIMITED) Retrying in 1.0 s.");
  expect(await start(["tail"], env()).ended).toMatchObject({
    code: 3,
    err: "taffrail: Project not found. (404 NOT_FOUND)\n",
  });
});

test("names the option of a seq beyond the newest entry", async () => {
  const details = [{ path: "query.since", code: "custom", message: "The project has no entry with this seq yet." }];
  const error = {
    code: "VALIDATION_ERROR",
    message: "query.since: The project has no entry with this seq yet.",
    details,
  };
  await serve(
    () => {},
    () => ({ head: "400 Bad Request", body: { success: false, error } }),
  );
  const { code, err } = await start(["tail", "--since", "seq:99999"], env()).ended;
  expect(code).toBe(3);
  expect(err).toContain("taffrail: --since seq:99999: the project has not reached this seq.");
  expect(err).not.toContain("query.since");
});

test("stops on Ctrl-C while it waits, connects or listens", async () => {
  await serve((tail, number) => {
    if (number === 0) tail.send(caughtUp(1));
  });
  const listening = start(["tail"], env());
  await listening.until(() => service.opened.length === 1);
  listening.child.kill("SIGINT");
  expect(await listening.ended).toMatchObject({ code: 0, out: "" });
  const connecting = start(["tail"], env());
  await connecting.until(() => service.opened.length === 2);
  connecting.child.kill("SIGINT");
  expect(await connecting.ended).toMatchObject({ code: 0, out: "", err: "" });
});

test("reconnects after a connection without any bytes", async () => {
  await serve((tail) => tail.send(caughtUp(1)));
  const stop = new AbortController();
  const options = { headers: {}, timeoutMs: 1000, pingMs: 50, signal: stop.signal };
  const connected = await connect(new URL(service.url), options);
  if (connected.kind !== "open") throw new Error("Refused.");
  const messages = connected.connection.messages();
  expect((await messages.next()).value).toBe('{"type":"caught-up","seq":1}');
  expect(await messages.next()).toEqual({ done: true, value: { code: 1006, reason: "no data for 0.05 s" } });
});

test("stops reading from the connection if the reader of its output is stalled", async () => {
  let unsent = 0;
  await serve((tail) => {
    const frame = { type: "logs", entries: [{ ...entry(1), message: "x".repeat(60_000) }] };
    for (let i = 0; i < 1000; i++) tail.send(frame);
    setTimeout(() => {
      unsent = tail.socket.writableLength;
    }, 1500);
  });
  const program = start(["tail"], env());
  program.child.stdout?.pause();
  await program.until(() => unsent > 0);
  expect(unsent).toBeGreaterThan(30_000_000);
  program.child.kill("SIGKILL");
  await program.ended;
});
