import { expect, vi } from "vitest";
import { withSetting } from "./settings.ts";

export type Line = Record<string, unknown>;

/** Makes all objects of a class log events of every level until the test ends. */
export async function verbose(...stubs: DurableObjectStub<Rpc.DurableObjectBranded>[]): Promise<void> {
  for (const stub of stubs) await withSetting(stub, { LOG_LEVEL: "info" });
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
