import { beforeEach, describe, expect, it } from "vitest";
import { ApiFailure } from "../../../web/src/api/failure.ts";
import { backoff } from "../../../web/src/lib/backoff.ts";
import { PAUSE_ENTRIES, TailLink } from "../../../web/src/pages/explorer/tail/tail-link.ts";
import { FakeWorld, upTo } from "./fake-tail.ts";

let world: FakeWorld;
let link: TailLink;

beforeEach(() => {
  world = new FakeWorld();
  link = new TailLink(world);
});

/** A tail that has reached the newest entry. */
async function live(since: number | null = 0): Promise<void> {
  link.start(since);
  await world.settle();
  world.socket.opens();
  world.socket.caughtUp(since ?? 100);
}

function refused(status: number, code: string, retryAfter: number | null = null): ApiFailure {
  return new ApiFailure(`refused with ${code}`, { status, code, retryAfter });
}

describe("a tail's connection", () => {
  it("reports its states on the way to live", async () => {
    link.start(7);
    await world.settle();
    expect(world.socket).toMatchObject({ ticket: "ticket-1", since: 7 });
    world.socket.opens();
    world.socket.logs(8, 9);
    world.socket.caughtUp(9);
    expect(world.reported.map(({ state }) => state)).toEqual(["connecting", "catching-up", "live"]);
    expect(world.seqs).toEqual([8, 9]);
  });

  it("reconnects after the last entry with a new ticket and ignores entries it already has", async () => {
    await live();
    world.socket.logs(1, 4);
    world.socket.closes(1006);
    expect(world.status).toMatchObject({ state: "connecting", reason: "The connection was lost. Trying again." });
    await world.pass(1000);
    expect(world.socket).toMatchObject({ ticket: "ticket-2", since: 4 });
    world.socket.opens();
    world.socket.logs(3, 6);
    await world.pass(1000);
    expect(world.seqs).toEqual(upTo(1, 6));
  });

  it("reconnects after the last progress report if the filters matched nothing", async () => {
    await live(null);
    world.socket.caughtUp(4321);
    world.socket.closes(1011, "since=4321");
    await world.pass(1000);
    expect(world.socket.since).toBe(4321);
  });

  it("ignores frames of an old connection", async () => {
    await live();
    const old = world.socket;
    link.reconnect();
    await world.settle();
    old.logs(1, 2);
    old.closes(4001, "SESSION_REVOKED");
    expect(old.isClosed).toBe(true);
    expect(world.seqs).toEqual([]);
    expect(world.status.state).toBe("connecting");
  });

  it("reconnects immediately if closed as behind, but backs off if that repeats", async () => {
    await live();
    world.socket.closes(4008, "since=0");
    await world.settle();
    expect(world.sockets).toHaveLength(2);
    world.socket.opens();
    world.socket.closes(4008, "since=0");
    await world.settle();
    expect(world.sockets).toHaveLength(2);
    await world.pass(1000);
    expect(world.sockets).toHaveLength(3);
  });

  it.each([
    ["SESSION_REVOKED", "Your session ended. Sign in to continue."],
    ["API_KEY_REVOKED", "The API key was deleted."],
    ["NOT_FOUND", "The project was deleted or you no longer have access."],
  ])("ends with a reason for %s", async (code, words) => {
    await live();
    world.socket.logs(1, 2);
    world.socket.logs(3, 4);
    world.socket.closes(4001, code);
    expect(world.status).toEqual({ state: "ended", reason: words, buffered: 0 });
    expect(world.seqs).toEqual([1, 2, 3, 4]);
    await world.pass(60_000);
    expect(world.sockets).toHaveLength(1);
  });

  it("continues after the last entry on a manual reconnect", async () => {
    await live();
    world.socket.logs(1, 2);
    world.socket.closes(4001, "SESSION_REVOKED");
    link.reconnect();
    await world.settle();
    expect(world.socket.since).toBe(2);
  });

  it("ends on a refusal and retries on an outage", async () => {
    world.refusal = refused(503, "SERVICE_UNAVAILABLE");
    link.start(0);
    await world.settle();
    expect(world.status.state).toBe("connecting");
    world.refusal = refused(404, "NOT_FOUND");
    await world.pass(1000);
    expect(world.status).toMatchObject({ state: "ended", reason: "refused with NOT_FOUND" });
  });

  it("retries after an answer that is not of the service", async () => {
    world.refusal = refused(200, "UNEXPECTED");
    link.start(0);
    await world.settle();
    expect(world.status.state).toBe("connecting");
    world.refusal = null;
    await world.pass(1000);
    expect(world.sockets).toHaveLength(1);
  });

  it("waits for the Retry-After of a limit", async () => {
    world.refusal = refused(429, "RATE_LIMITED", 30);
    link.start(0);
    await world.settle();
    world.refusal = null;
    await world.pass(29_000);
    expect(world.sockets).toHaveLength(0);
    await world.pass(1000);
    expect(world.sockets).toHaveLength(1);
  });

  it("reports the likely reason if tickets are issued but connections do not open", async () => {
    link.start(0);
    for (let round = 0; round < 3; round++) {
      await world.pass(5000);
      world.socket.closes(1006);
    }
    expect(world.status.reason).toMatch(/too many live views/);
    await world.pass(20_000);
    world.socket.opens();
    expect(world.status.reason).toBeNull();
  });

  it("closes a connection that does not open in time", async () => {
    link.start(0);
    await world.settle();
    const first = world.socket;
    await world.pass(25_000);
    expect(first.isClosed).toBe(true);
    expect(world.sockets.length).toBeGreaterThan(1);
  });

  it("waits while offline and connects when the network is back", async () => {
    await live();
    world.socket.logs(1, 3);
    world.online = false;
    link.offline();
    await world.pass(60_000);
    expect(world.sockets).toHaveLength(1);
    expect(world.status.reason).toMatch(/offline/);
    world.online = true;
    link.wake();
    await world.settle();
    expect(world.socket.since).toBe(3);
  });

  it("disconnects while the page is hidden", async () => {
    await live();
    world.socket.logs(1, 3);
    link.sleep();
    expect(world.socket.isClosed).toBe(true);
    await world.pass(3_600_000);
    expect(world.sockets).toHaveLength(1);
    link.wake();
    await world.settle();
    expect(world.socket.since).toBe(3);
  });

  it("delivers and opens nothing after stop", async () => {
    await live();
    const { socket } = world;
    socket.logs(1, 2);
    socket.logs(3, 4);
    link.stop();
    await world.pass(60_000);
    expect(world.seqs).toEqual([1, 2]);
    expect(socket.isClosed).toBe(true);
    expect(world.sockets).toHaveLength(1);
    expect(world.status.state).toBe("off");
  });

  it("can be stopped while its ticket is requested", async () => {
    link.start(0);
    link.stop();
    await world.pass(60_000);
    expect(world.sockets).toHaveLength(0);
  });
});

describe("a tail's acknowledgements", () => {
  it("are sent immediately after 500 entries, and after a second for fewer", async () => {
    await live();
    await world.pass(1000);
    world.socket.sent.length = 0;
    world.socket.logs(1, 300);
    expect(world.socket.sent).toEqual([]);
    world.socket.logs(301, 600);
    expect(world.socket.sent).toEqual(['{"type":"ack","seq":600}']);
    world.socket.logs(601, 601);
    await world.pass(1000);
    expect(world.socket.sent).toEqual(['{"type":"ack","seq":600}', '{"type":"ack","seq":601}']);
    await world.pass(60_000);
    expect(world.socket.sent).toHaveLength(2);
  });

  it("continue during a pause, because paused entries are buffered here", async () => {
    await live();
    link.pause();
    for (let seq = 0; seq < 3000; seq += 500) world.socket.logs(seq + 1, seq + 500);
    expect(world.socket.sent.at(-1)).toBe('{"type":"ack","seq":3000}');
  });
});

describe("a pause", () => {
  it("buffers entries and delivers them in order on resume", async () => {
    await live();
    world.socket.logs(1, 2);
    link.pause();
    world.socket.logs(3, 2000);
    expect(world.status).toMatchObject({ state: "paused", buffered: 1998 });
    await world.pass(60_000);
    expect(world.seqs).toEqual([1, 2]);
    link.resume();
    expect(world.status).toMatchObject({ state: "live", buffered: 0 });
    world.socket.logs(2001, 2001);
    await world.pass(1000);
    expect(world.seqs).toEqual(upTo(1, 2001));
  });

  it("disconnects when its buffer is full, and fetches the rest on resume", async () => {
    await live();
    link.pause();
    world.socket.logs(1, PAUSE_ENTRIES);
    world.socket.logs(PAUSE_ENTRIES + 1, PAUSE_ENTRIES + 10);
    expect(world.socket.isClosed).toBe(true);
    expect(world.status).toMatchObject({ state: "paused", buffered: PAUSE_ENTRIES });
    await world.pass(3_600_000);
    expect(world.sockets).toHaveLength(1);
    link.resume();
    await world.settle();
    expect(world.socket.since).toBe(PAUSE_ENTRIES);
    world.socket.opens();
    world.socket.logs(PAUSE_ENTRIES + 1, PAUSE_ENTRIES + 10);
    await world.pass(1000);
    expect(world.seqs).toEqual(upTo(1, PAUSE_ENTRIES + 10));
  });

  it("survives a lost connection", async () => {
    await live();
    link.pause();
    world.socket.logs(1, 10);
    world.socket.closes(1006);
    await world.pass(1000);
    expect(world.socket.since).toBe(10);
    world.socket.opens();
    world.socket.logs(11, 20);
    expect(world.status).toMatchObject({ state: "paused", buffered: 20 });
    link.resume();
    expect(world.seqs).toEqual(upTo(1, 20));
  });

  it("ends with the tail, whose buffered entries are delivered", async () => {
    await live();
    link.pause();
    world.socket.logs(1, 10);
    world.socket.closes(4001, "SESSION_REVOKED");
    expect(world.status).toMatchObject({ state: "ended", buffered: 0 });
    expect(world.seqs).toEqual(upTo(1, 10));
  });
});

describe("deliveries", () => {
  it("start immediately and then happen at most ten times a second", async () => {
    await live();
    for (let seq = 1; seq <= 50; seq++) {
      world.socket.logs(seq, seq);
      await world.pass(10);
    }
    await world.pass(1000);
    expect(world.seqs).toEqual(upTo(1, 50));
    expect(world.deliveries.length).toBeLessThanOrEqual(6);
    expect(world.deliveries[0]).toEqual([1]);
  });
});

describe("backoff", () => {
  it("doubles up to a maximum, less a random part of up to half", () => {
    expect([0, 1, 2, 20, 1000].map((failures) => backoff(failures, 0))).toEqual([250, 500, 1000, 15_000, 15_000]);
    expect(backoff(3, 1)).toBe(1000);
  });
});
