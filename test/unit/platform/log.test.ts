import { afterEach, expect, test, vi } from "vitest";
import { logEvent } from "../../../src/platform/log.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test("an event begins with its time, ISO 8601 UTC with milliseconds", () => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 22, 21, 30, 5, 7) });
  const written = vi.spyOn(console, "log").mockImplementation(() => {});
  logEvent("info", "info", { event: "workspace.ingest", outcome: "ok" });
  expect(written.mock.calls).toEqual([
    ['{"time":"2026-11-22T21:30:05.007Z","level":"info","event":"workspace.ingest","outcome":"ok"}'],
  ]);
});

test("an event below the threshold is not written", () => {
  const written = vi.spyOn(console, "log").mockImplementation(() => {});
  logEvent("warn", "info", { event: "workspace.ingest", outcome: "ok" });
  expect(written).not.toHaveBeenCalled();
});
