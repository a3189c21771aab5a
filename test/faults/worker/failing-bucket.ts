import { chaos, pause } from "./chaos.ts";

/** Messages of R2 for temporary errors: https://developers.cloudflare.com/r2/api/error-codes/ */
const INTERNAL = "We encountered an internal error. Please try again. (10001)";
const TOO_MANY = "Reduce your rate of simultaneous requests to the same object. (10058)";

const OPERATIONS = ["head", "get", "put", "delete", "list"] as const;
type Operation = (typeof OPERATIONS)[number];
type Call = (this: R2Bucket, ...values: unknown[]) => Promise<unknown>;

let isHooked = false;
let unharmedList: Call;

/**
 * Applies the plan to every call of the bucket of this isolate. Patches the runtime's prototype, so that the service gets its
 * own binding unchanged.
 */
export function hookBucket(bucket: R2Bucket | undefined): void {
  if (isHooked || bucket === undefined) return;
  isHooked = true;
  const prototype: Record<Operation, Call> = Object.getPrototypeOf(bucket);
  for (const operation of OPERATIONS) {
    const original = prototype[operation];
    if (operation === "list") unharmedList = original;
    prototype[operation] = async function (...values) {
      const { before, after, tooMany, delayMs } = chaos.plan.bucket;
      await pause(chaos.delay(delayMs));
      chaos.note(`bucket: ${operation}`);
      if (chaos.strikes(before, "R2 failed before")) throw new Error(`${operation}: ${INTERNAL}`);
      if (chaos.strikes(tooMany, "R2 refused")) throw new Error(`${operation}: ${TOO_MANY}`);
      const result = await original.apply(this, values);
      if (!chaos.strikes(after, "R2 failed after")) return result;
      // An opened body would keep its connection.
      if (operation === "get" && result !== null) await (result as R2ObjectBody).body?.cancel();
      throw new Error("Network connection lost.");
    };
  }
}

/** Keys of all files below a prefix, without faults. */
export async function allKeys(bucket: R2Bucket, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  let cursor: string | undefined;
  do {
    // SAFETY: this is the bucket's own `list`.
    const page = (await unharmedList.call(bucket, { prefix, ...(cursor ? { cursor } : {}) })) as R2Objects;
    keys.push(...page.objects.map(({ key }) => key));
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
  return keys;
}
