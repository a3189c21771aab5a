import { recovery } from "./retry.ts";

/**
 * Waits until the service responds; asks as often as calls are retried after an outage.
 * @param onAway called after each attempt without a response
 */
export async function reachable(onAway: () => void = () => undefined): Promise<void> {
  for (;;) {
    const isThere = await fetch("/", { cache: "no-store" }).then(
      ({ status }) => status < 500,
      () => false,
    );
    if (isThere) return;
    onAway();
    await new Promise<void>((resolve) => void recovery.add(resolve));
  }
}
