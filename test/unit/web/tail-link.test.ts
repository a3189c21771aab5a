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
  it("says how it comes to be live", async () => {
    link.start(7);
    await world.settle();
    expect(world.socket).toMatchObject({ ticket: "ticket-1", since: 7 });
    world.socket.opens();
    world.socket.logs(8, 9);
    world.socket.caughtUp(9);
    expect(world.told.map(({ state }) => state)).toEqual(["connecting", "catching-up", "live"]);
    expect(world.seqs).toEqual([8, 9]);
  });

  it("comes back right behind the last entry, with a new ticket, and passes over what it has", async () => {
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

  it("comes back behind what the service has looked through, where filters left all of it out", async () => {
    await live(null);
    world.socket.caughtUp(4321);
    world.socket.closes(1011, "since=4321");
    await world.pass(1000);
    expect(world.socket.since).toBe(4321);
  });

  it("ignores what an old connection still says", async () => {
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

  it("comes back at once when it was too slow, but not again and again without a pause", async () => {
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
    ["SESSION_REVOKED", "Your session has ended. Sign in again to go on."],
    ["API_KEY_REVOKED", "The key has been revoked."],
    ["NOT_FOUND", "The project is gone, or you may no longer read it."],
  ])("ends with a word for %s", async (code, words) => {
    await live();
    world.socket.logs(1, 2);
    world.socket.logs(3, 4);
    world.socket.closes(4001, code);
    expect(world.status).toEqual({ state: "ended", reason: words, buffered: 0 });
    expect(world.seqs).toEqual([1, 2, 3, 4]);
    await world.pass(60_000);
    expect(world.sockets).toHaveLength(1);
  });

  it("follows again after an end when asked to, right behind what it has", async () => {
    await live();
    world.socket.logs(1, 2);
    world.socket.closes(4001, "SESSION_REVOKED");
    link.reconnect();
    await world.settle();
    expect(world.socket.since).toBe(2);
  });

  it("ends where it may not read, and waits where the service only cannot", async () => {
    world.refusal = refused(503, "SERVICE_UNAVAILABLE");
    link.start(0);
    await world.settle();
    expect(world.status.state).toBe("connecting");
    world.refusal = refused(404, "NOT_FOUND");
    await world.pass(1000);
    expect(world.status).toMatchObject({ state: "ended", reason: "refused with NOT_FOUND" });
  });

  it("waits as long as a limit says", async () => {
    world.refusal = refused(429, "RATE_LIMITED", 30);
    link.start(0);
    await world.settle();
    world.refusal = null;
    await world.pass(29_000);
    expect(world.sockets).toHaveLength(0);
    await world.pass(1000);
    expect(world.sockets).toHaveLength(1);
  });

  it("says what it may be when the service gives tickets and opens nothing", async () => {
    link.start(0);
    for (let round = 0; round < 3; round++) {
      await world.pass(5000);
      world.socket.closes(1006);
    }
    expect(world.status.reason).toMatch(/too many of them/);
    await world.pass(20_000);
    world.socket.opens();
    expect(world.status.reason).toBeNull();
  });

  it("gives up a connection that does not open in time", async () => {
    link.start(0);
    await world.settle();
    const first = world.socket;
    await world.pass(25_000);
    expect(first.isClosed).toBe(true);
    expect(world.sockets.length).toBeGreaterThan(1);
  });

  it("does nothing without a network and goes on once there is one", async () => {
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

  it("lets go of the connection while nobody looks", async () => {
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

  it("hands over nothing and opens nothing once it is stopped", async () => {
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

  it("is stopped while its ticket is on the way", async () => {
    link.start(0);
    link.stop();
    await world.pass(60_000);
    expect(world.sockets).toHaveLength(0);
  });
});

describe("a tail's acknowledgements", () => {
  it("come at once every 500 entries, and after a second for fewer", async () => {
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

  it("go on during a pause: what is kept here need not be kept there", async () => {
    await live();
    link.pause();
    for (let seq = 0; seq < 3000; seq += 500) world.socket.logs(seq + 1, seq + 500);
    expect(world.socket.sent.at(-1)).toBe('{"type":"ack","seq":3000}');
  });
});

describe("a pause", () => {
  it("keeps what comes and hands it over in order afterwards", async () => {
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

  it("past its bound lets go of the connection and fetches the rest when it goes on", async () => {
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

  it("outlives a lost connection", async () => {
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

  it("ends with the tail, and what it kept is handed over", async () => {
    await live();
    link.pause();
    world.socket.logs(1, 10);
    world.socket.closes(4001, "SESSION_REVOKED");
    expect(world.status).toMatchObject({ state: "ended", buffered: 0 });
    expect(world.seqs).toEqual(upTo(1, 10));
  });
});

describe("deliveries", () => {
  it("are one at once and then ten a second at most", async () => {
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

describe("waits between tries", () => {
  it("double up to a bound, less up to a half by chance", () => {
    expect([0, 1, 2, 20, 1000].map((failures) => backoff(failures, 0))).toEqual([250, 500, 1000, 15_000, 15_000]);
    expect(backoff(3, 1)).toBe(1000);
  });
});
