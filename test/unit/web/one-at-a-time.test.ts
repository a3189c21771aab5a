import { expect, it } from "vitest";
import { oneAtATime } from "../../../web/src/lib/one-at-a-time.ts";

const turn = () => new Promise((resolve) => setTimeout(resolve));

it("17.6: what waits for a module goes on in the order of its calls, however its imports end", async () => {
  const imports: (() => void)[] = [];
  const load = oneAtATime(() => new Promise<void>((resolve) => imports.push(resolve)));
  const order: number[] = [];
  const waiting = [1, 2].map((each) => load().then(() => order.push(each)));
  for (const end of imports.toReversed()) {
    end();
    await turn();
  }
  await Promise.all(waiting);
  expect([order, imports.length]).toEqual([[1, 2], 1]);
});

it("3: a load that failed is made again by the next call", async () => {
  let calls = 0;
  const load = oneAtATime(() => (calls++ === 0 ? Promise.reject(new Error("away")) : Promise.resolve(calls)));
  await expect(load()).rejects.toThrow("away");
  expect(await load()).toBe(2);
});
