import { expect, test } from "vitest";
import { threadMs } from "../../test/support/thread-time.ts";
import { createCleaner } from "../src/browser/clean.ts";
import { maskedJson } from "../src/capture/masked.ts";
import { createLogger } from "../src/index.ts";
import { createRedactor } from "../src/redact.ts";

/** Returns the results of the encoder, the browser's cleaner and the capture of bodies. */
function shown(data: object): unknown[] {
  const logger = createLogger({ transport: "memory" });
  logger.info("x", data);
  const redactor = createRedactor([]);
  return [logger.entries[0]?.data, createCleaner(redactor)(data), maskedJson(data, redactor)];
}

const R = "[REDACTED]";

test("15: secretary, passwordResetAt and nextPageToken are not secret", () => {
  const data = {
    secretary: "Ann",
    secretariat: "north",
    passwordResetAt: "2026-11-20T14:04:05.678Z",
    password_changed_at: "2026-11-20",
    tokenExpiresOn: "Friday",
    nextPageToken: "CAUQAA",
    page_token: "CAUQAB",
    continuationToken: "x1",
    text: "secretary: Ann, passwordResetAt=2026, nextPageToken: CAUQAA",
    json: '{"secretary":"Ann","passwordResetAt":"today"}',
  };
  for (const one of shown(data)) expect(one).toEqual(data);
});

test("15: secrets with similar names are masked", () => {
  const data = {
    secret: "a",
    client_secret: "b",
    secretArray: ["c"],
    password: "d",
    passwordHat: "e",
    accessToken: "f",
    sessionToken: "g",
    "x-next-auth-token": "h",
  };
  for (const one of shown(data)) expect(Object.values(one as object)).toEqual(Object.keys(data).map(() => R));
});

test("15: csrf and xsrf values are masked", () => {
  for (const one of shown({ csrf: "a1", _csrf: "b2", "X-XSRF": "c3", text: "csrf=d4; _csrf: e5", csrfEnabled: true })) {
    expect(one).toEqual({ csrf: R, _csrf: R, "X-XSRF": R, text: `csrf=${R}; _csrf: ${R}`, csrfEnabled: true });
  }
});

/** Numbers that the issuers publish for tests. */
const CARDS = [
  "4111111111111111",
  "4222222222222",
  "4111 1111 1111 1111",
  "4111-1111-1111-1111",
  "5555555555554444",
  "2223003122003222",
  "378282246310005",
  "3782 822463 10005",
  "6011111111111117",
  "30569309025904",
  "3530111333300000",
  "6205500000000000004",
];

test.each(CARDS)("15: the card number %s is masked in strings", (card) => {
  const json = JSON.stringify({ pan: card });
  for (const one of shown({
    text: `paid with ${card}, thanks`,
    exact: card,
    list: [card],
    paid: card,
    after: `1234 ${card} 12/27`,
    json,
  })) {
    expect(one).toEqual({
      text: `paid with ${R}, thanks`,
      exact: R,
      list: [R],
      paid: R,
      after: `1234 ${R} 12/27`,
      json: JSON.stringify({ pan: R }),
    });
  }
  const logger = createLogger({ transport: "memory" });
  logger.info(`card ${card}`);
  expect(logger.entries[0]?.message).toBe(`card ${R}`);
});

test("15: numbers are kept that are not card numbers: wrong checksum, no issuer, ids, times, parts of longer numbers", () => {
  const card = "4111111111111111";
  const data = {
    sum: "4111111111111112",
    issuer: "9111111111111114",
    epoch: "1763647445678",
    snowflake: "1453112345678901234",
    id: card,
    orderId: card,
    order_id: card,
    requestIDs: [card],
    createdAt: card,
    ts: card,
    timestamp: card,
    text: `id=${card} orderId: ${card} and "traceId":"${card}"`,
    decimal: `0.${card}`,
    longer: `${card}1234567`,
    word: `x${card} ${card}y`,
    uuid: "41111111-1111-1111-8111-111111111111",
    number: 4111111111111111,
  };
  for (const one of shown(data)) expect(one).toEqual(data);
});

test("15: a text of digits is searched in linear time", () => {
  const logger = createLogger({ transport: "memory" });
  const startedAt = threadMs();
  for (const part of ["4111 ", "4111-1111 ", "41111", "4111 1111 1111 1111x", "id=4111111111111 "]) {
    logger.info("x", { text: part.repeat(200_000 / part.length) });
  }
  // Quadratic time would take minutes.
  expect(threadMs() - startedAt).toBeLessThan(5000);
});

test("15: many card numbers in one text are masked in linear time", () => {
  const [, , masked] = createRedactor([]);
  const startedAt = threadMs();
  // 1 MiB. Took 12 s when each card number moved the rest of the text.
  expect(masked("4111 1111 1111 1111 ".repeat(52_000))).toBe(`${R} `.repeat(52_000));
  expect(threadMs() - startedAt).toBeLessThan(3000);
});
