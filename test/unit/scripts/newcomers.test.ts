import { expect, it } from "vitest";
import { dayOfShop } from "../../../scripts/newcomers/day.ts";
import { PROVIDER, VERSIONS, WRONG_TIMEOUT_MS } from "../../../scripts/newcomers/orders.ts";

const END = Date.parse("2026-11-20T12:00:00Z");
const COUNT = 20_000;
const { entries, outage, special } = dayOfShop(7, COUNT, END);
const ofOrder = (order: unknown) => entries.filter(({ data }) => data?.order === order);

it("makes the demanded number of entries, by time, the same ones again", () => {
  expect(entries).toHaveLength(COUNT);
  const times = entries.map(({ timestamp }) => timestamp);
  expect(times).toEqual(times.toSorted());
  expect(dayOfShop(7, COUNT, END).entries).toEqual(entries);
  expect(dayOfShop(8, COUNT, END).entries).not.toEqual(entries);
});

it("fails charges of one provider alone, from the wrong release to the one that mends it", () => {
  const failed = entries.filter(({ service, level }) => service === "payments" && level === "error");
  expect(failed.length).toBeGreaterThan(10);
  expect(new Set(failed.map(({ data }) => data?.provider))).toEqual(new Set([PROVIDER]));
  for (const { timestamp, data } of failed) {
    // The order begins before the charge fails.
    expect(Date.parse(timestamp)).toBeGreaterThan(outage.from);
    expect(Date.parse(timestamp)).toBeLessThan(outage.to + 5_000);
    const levels = ofOrder(data?.order).map(({ service, level }) => `${service} ${level}`);
    expect(levels).toEqual(expect.arrayContaining(["checkout error", "gateway error", "payments warn"]));
    expect(levels).not.toContain("mailer info");
  }
  const release = entries.find(({ message }) => message === `payments ${VERSIONS.wrong} started`);
  expect(Date.parse(release?.timestamp ?? "")).toBe(outage.from);
  expect(release?.data?.timeoutMs).toMatchObject({ [PROVIDER]: WRONG_TIMEOUT_MS });
});

it("has one order that waits for a lock, and names it within its trace", () => {
  const [waits, ...rest] = ofOrder(special.order);
  expect(waits).toMatchObject({ service: "inventory", level: "warn", data: { job: special.job } });
  expect(new Set([waits, ...rest].map((entry) => entry?.traceId)).size).toBe(1);
  const reserved = rest.find(({ spanId }) => spanId === waits?.spanId);
  expect(reserved?.data?.ms).toBeGreaterThan(special.lockMs);
  expect(rest.map(({ service }) => service)).toEqual(["inventory", "payments", "checkout", "gateway", "mailer"]);
});
