import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { BodyIncomplete, BodyReader } from "../../../src/http/body-reader.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A body whose chunks the test sends. */
function bodyOf() {
  let send: (bytes: number) => void = () => {};
  let end = () => {};
  let fail = () => {};
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      send = (bytes) => controller.enqueue(new Uint8Array(bytes));
      end = () => controller.close();
      fail = () => controller.error(new Error("reset"));
    },
    cancel() {
      isCancelled = true;
    },
  });
  return {
    body,
    send: (bytes: number) => send(bytes),
    end: () => end(),
    fail: () => fail(),
    isCancelled: () => isCancelled,
  };
}

/** Reads to the end and returns the bytes, or the reason for the failure. */
function read(receiver: BodyReader): { result: () => number | string | null } {
  let result: number | string | null = null;
  void (async () => {
    let bytes = 0;
    try {
      for (let chunk = await receiver.next(); chunk !== null; chunk = await receiver.next()) bytes += chunk.length;
      result = bytes;
    } catch (error) {
      result = error instanceof BodyIncomplete ? error.reason : String(error);
    }
  })();
  return { result: () => result };
}

describe("A7: a body that is being received", () => {
  test("is given up after 30 s without a byte, and not before", async () => {
    const { body, send, isCancelled } = bodyOf();
    const { result } = read(new BodyReader(body, () => false));
    for (let second = 0; second < 100; second += 25) {
      send(1);
      await vi.advanceTimersByTimeAsync(25_000);
      expect(result()).toBeNull();
    }
    await vi.advanceTimersByTimeAsync(6_000);
    expect(result()).toBe("idle");
    expect(isCancelled()).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("is given up if it is slow while others wait for its memory", async () => {
    let isPressed = false;
    const { body, send } = bodyOf();
    const { result } = read(new BodyReader(body, () => isPressed));
    for (let second = 0; second < 10; second++) {
      send(10_000);
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(result()).toBeNull();
    isPressed = true;
    for (let second = 0; second < 10; second++) {
      send(300_000);
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(result()).toBeNull();
    for (let second = 0; second < 7 && result() === null; second++) {
      send(10_000);
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(result()).toBe("slow");
  });

  test("does not count as idle while its reader waits for memory", async () => {
    const { body, send, end } = bodyOf();
    const receiver = new BodyReader(body, () => true);
    send(1);
    expect((await receiver.next())?.length).toBe(1);
    await vi.advanceTimersByTimeAsync(60_000);
    send(2);
    end();
    const { result } = read(receiver);
    await vi.advanceTimersByTimeAsync(0);
    expect(result()).toBe(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("leaves no timer behind when its connection ends early", async () => {
    const { body, send, fail } = bodyOf();
    const { result } = read(new BodyReader(body, () => false));
    send(1);
    fail();
    await vi.advanceTimersByTimeAsync(0);
    expect(result()).toBe("incomplete");
    expect(vi.getTimerCount()).toBe(0);
  });

  test("is discarded up to a number of bytes", async () => {
    const { body, send, isCancelled } = bodyOf();
    const drained = new BodyReader(body, () => false).drain(10);
    send(4);
    send(4);
    send(4);
    expect(await drained).toBeNull();
    expect(isCancelled()).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });
});
