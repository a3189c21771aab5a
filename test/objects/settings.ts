import { runInDurableObject } from "cloudflare:test";
import { onTestFinished } from "vitest";
import { overrideSettings, type Settings } from "../../src/settings.ts";

/**
 * Gives all objects of a class other settings until the test ends. An object that reads a setting when it starts must
 * start after this; see `evict`.
 * @param stub of any object of the class
 */
export async function withSetting(
  stub: DurableObjectStub<Rpc.DurableObjectBranded>,
  changed: Partial<Settings>,
): Promise<void> {
  const restore = await runInDurableObject(stub, (object) => overrideSettings(Reflect.get(object, "env"), changed));
  onTestFinished(restore);
}
