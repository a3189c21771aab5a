import { runInDurableObject } from "cloudflare:test";
import { expect, vi } from "vitest";
import { settingsOf } from "../../src/settings.ts";

export type Line = Record<string, unknown>;

/** Makes an object log events of every level until it loses its memory. */
export async function verbose(...stubs: DurableObjectStub<Rpc.DurableObjectBranded>[]): Promise<void> {
  for (const stub of stubs) {
    await runInDurableObject(stub, (instance) => {
      Object.assign(settingsOf(Reflect.get(instance, "env")), { LOG_LEVEL: "info" });
    });
  }
}

/** The events logged from now on. */
export function loggedEvents(): {
  all: () => Line[];
  of: (event: string) => Line[];
  one: (event: string) => Promise<Line>;
} {
  const spy = vi.spyOn(console, "log").mockImplementation(() => {});
  const all = (): Line[] => spy.mock.calls.map(([text]) => JSON.parse(String(text)));
  const of = (event: string) => all().filter((line) => line.event === event);
  /** Waits for the single line of an event. */
  const one = async (event: string): Promise<Line> => {
    await vi.waitFor(() => expect(of(event)).not.toEqual([]), { timeout: 10_000 });
    const [line, ...more] = of(event);
    expect(more).toEqual([]);
    return line as Line;
  };
  return { all, of, one };
}
