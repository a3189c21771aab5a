import { type AgentEntry, MINUTE, requests } from "../../test/agents/traffic.ts";
import { Random } from "../../test/faults/random.ts";
import { type Outage, orderEntries, releases, type Special } from "./orders.ts";

/** A day of a shop's services with what newcomers are asked to find in it. */
export interface Day {
  /** By time. */
  entries: AgentEntry[];
  outage: Outage;
  special: Special;
}

/** More than the entries of an order. */
const ROOM = 12;

/**
 * Returns a day of traffic. The same arguments make the same day.
 * @param count of entries, at least 1,000
 * @param end time of the last request, epoch milliseconds
 */
export function dayOfShop(seed: number, count: number, end: number): Day {
  const random = new Random(seed);
  const from = end - random.int(300, 340) * MINUTE;
  const outage = { from, to: from + random.int(65, 85) * MINUTE };
  const special = {
    order: `ord-${random.int(10_000, 99_999)}`,
    lockMs: random.int(2600, 3900),
    job: `stocktaking-${random.int(2, 40)}`,
  };
  const orders = random.fork("orders");
  const entries = releases(random.fork("releases"), outage, end);
  let asked: Special | null = special;
  for (const request of requests(random.fork("requests"), count, end)) {
    const room = count - entries.length;
    if (room === 0) break;
    if (request.data?.route !== "POST /orders") entries.push(request);
    else if (room >= ROOM) {
      const time = Date.parse(request.timestamp);
      // Apart from the outage, and neither at the beginning nor at the end of the day.
      const isAsked = asked !== null && time > outage.to + 60 * MINUTE && time < end - 60 * MINUTE;
      entries.push(...orderEntries(orders, request, outage, isAsked ? asked : null));
      if (isAsked) asked = null;
    }
  }
  entries.sort((a, b) => (a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0));
  return { entries, outage, special };
}
