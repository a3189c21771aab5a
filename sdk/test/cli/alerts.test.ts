import { describe, expect, test } from "vitest";
import { planLines } from "../../src/cli/alerts/difference.ts";
import { alertTable, decisionLine, stateText } from "../../src/cli/alerts/pretty-alert.ts";
import { RulesFile } from "../../src/cli/alerts/rules-file.ts";
import { leftOutOf, rulesText } from "../../src/cli/alerts/rules-text.ts";
import { parseCommand } from "../../src/cli/args.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");
const DESTINATIONS = [
  { id: "dest_1", name: "ops" },
  { id: "dest_2", name: "on call" },
];
const ERRORS = {
  name: "Errors",
  query: "level:>=error | count by service",
  condition: { kind: "threshold", value: 10, direction: "above" },
  window: "5m",
  delay: null,
  for: "0s",
  recovery: null,
  labels: {},
  message: "",
  destinations: ["dest_1"],
  mutes: [],
};

function messageOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return "";
}

describe("the command line", () => {
  const KEY = { TAFFRAIL_API_KEY: "sk_secret", TAFFRAIL_PROJECT: "proj_1" };
  const parse = (line: string, env: Record<string, string> = KEY) =>
    parseCommand(["alerts", ...line.split(" ").filter(Boolean)], { env, isTerminal: false, now: NOW });

  test("names an action, an alert of several words and the credential", () => {
    expect(parse("")).toMatchObject({ name: "alerts", project: "proj_1", workspace: null, action: { kind: "list" } });
    expect(parse("show Slow checkouts")).toMatchObject({ action: { kind: "show", alert: "Slow checkouts" } });
    expect(parse("apply -f a.yaml --dry-run --prune")).toMatchObject({
      action: { kind: "apply", file: "a.yaml", isDryRun: true, prune: true, revision: null },
    });
    expect(parse("apply -f a.yaml --revision 5c0f")).toMatchObject({ action: { revision: "5c0f" } });
    expect(parse("mute a --for 2h")).toMatchObject({ action: { from: NOW, to: NOW + 7_200_000 } });
    expect(parse("mute a --from 2026-11-21T00:00Z --until 2026-11-21T06:00Z")).toMatchObject({
      action: { from: Date.parse("2026-11-21T00:00Z"), to: Date.parse("2026-11-21T06:00Z") },
    });
    const member = { TAFFRAIL_ACCESS_TOKEN: "t", TAFFRAIL_WORKSPACE: "ws_1", TAFFRAIL_PROJECT: "proj_1" };
    expect(parse("list", member)).toMatchObject({ service: { key: "t" }, workspace: "ws_1" });
    expect(parse("list", { ...member, ...KEY })).toMatchObject({ service: { key: "sk_secret" }, workspace: null });
    expect(parse("list --token t", { ...member, ...KEY })).toMatchObject({ service: { key: "t" }, workspace: "ws_1" });
  });

  test("says what is wrong", () => {
    const wrong: [string, string][] = [
      ["lst", "must be one of list, show"],
      ["show", "Which alert? taffrail alerts show <name>."],
      ["apply", "A file of rules is needed"],
      ["apply -f a.yaml --revision=", "--revision is empty"],
      ["list --prune", "--prune belongs to taffrail alerts apply."],
      ["list a", "accepts only options, not a"],
      ["preview", "Which alert?"],
      ["mute a", "How long?"],
      ["mute a --for 2h --until 2026-11-21", "How long?"],
      ["mute a --for soon", "must be like 30m"],
      ["mute a --until 2h", "must be like 2026-11-20"],
      ["mute a --until 2026-11-19", "is over"],
      ["list --key sk_a --token t", "exclude each other"],
      ["list --token sk_secret", "Give an API key as --key"],
    ];
    for (const [line, message] of wrong)
      expect([line, messageOf(() => parse(line))]).toEqual([line, expect.stringContaining(message)]);
    const blank = ["alerts", "apply", "-f", "a.yaml", "--revision", " "];
    expect(messageOf(() => parseCommand(blank, { env: KEY, isTerminal: false, now: NOW }))).toContain("is empty");
    expect(messageOf(() => parse("list", { TAFFRAIL_PROJECT: "p" }))).toContain("A key is needed");
    expect(messageOf(() => parse("list", { TAFFRAIL_API_KEY: "sk_secret" }))).toContain("A project is needed");
  });
});

describe("a file of rules", () => {
  const file = (text: string) => new RulesFile("rules.yaml", text);
  const two = `alerts:
  - name: Errors
    query: level:>=error | count by service
    condition: { kind: threshold, value: 0 }
    window: 5m
    destinations: [ops, nobody]
  - name: Silence
    query: "level:eror |"
    condition:
      kind: absence
      value: 1
    windw: 5m
`;

  test("has rules as the service takes them, with ids of destinations", () => {
    const rules = file(two.replace("nobody", "on call"));
    expect(rules.withIds(DESTINATIONS).rules[0]).toEqual({
      name: "Errors",
      query: "level:>=error | count by service",
      condition: { kind: "threshold", value: 0 },
      window: "5m",
      destinations: ["dest_1", "dest_2"],
    });
    expect(file("alerts: [{name: a, destinations: [dest_2]}]").withIds(DESTINATIONS)).toEqual({
      rules: [{ name: "a", destinations: ["dest_2"] }],
      unknown: null,
    });
  });

  test("errors name file, line, column, alert and member", () => {
    const { rules, unknown } = file(two).withIds(DESTINATIONS);
    const destination =
      'rules.yaml:6:25: alert "Errors", destinations.1: The workspace has no destination "nobody". It has: ops, on call.';
    expect([unknown?.message, rules[0]?.destinations]).toEqual([destination, ["dest_1"]]);
    const refused = file(two).failureOf([
      { path: "alerts.0.condition.value", message: "Too small." },
      { path: "alerts.1.query", message: "A filter is expected.", position: 12 },
      { path: "alerts.1.windw", message: "Unknown member." },
      { path: "alerts.1.window", message: "Required." },
    ]);
    expect(refused?.message.split("\n")).toEqual([
      'rules.yaml:4:35: alert "Errors", condition.value: Too small.',
      'rules.yaml:7:5: alert "Silence", window: Required.',
      'rules.yaml:8:25: alert "Silence", query: A filter is expected.',
      'rules.yaml:12:5: alert "Silence", windw: Unknown member.',
    ]);
    // With what the file alone shows to be wrong, in order of lines.
    const query = [{ path: "alerts.1.query", message: "A filter is expected.", position: 12 }];
    expect(file(two).failureOf(query, [], unknown)?.message.split("\n")).toEqual([
      destination,
      'rules.yaml:8:25: alert "Silence", query: A filter is expected.',
    ]);
    expect(file(two).failureOf([], [], unknown)).toBeNull();
    expect(refused?.code).toBe(2);
    expect(file(two).failureOf([{ path: "prune", message: "Unknown." }])).toBeNull();
    // A preview sends one rule of the file.
    expect(file(two).failureOf([{ path: "window", message: "Required." }], ["alerts", 0])?.message).toMatch(
      /^rules\.yaml:5:5: alert "Errors", window: /,
    );
  });

  test("says what is wrong with its text", () => {
    expect(messageOf(() => file("alerts:\n  - name: a\n   b: c\n"))).toMatch(/^rules\.yaml:3:\d+: /);
    expect(messageOf(() => file("alerts:\n  - name: a\n    name: b\n"))).toMatch(/^rules\.yaml:3:5: .*unique/);
    expect(messageOf(() => file(""))).toBe("rules.yaml:1:1: The file must have a list `alerts`.");
    expect(messageOf(() => file("- name: a"))).toContain("must have a list `alerts`");
    expect(messageOf(() => file("alerts:\n  - a\nrules: []\n")).split("\n")).toEqual([
      "rules.yaml:3:1: Unknown member. The file has `alerts` only.",
      "rules.yaml:2:5: alert 1: Each alert must be a mapping.",
    ]);
    expect(messageOf(() => file("alerts: *none"))).toMatch(/^rules\.yaml/);
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${[..."bcdefgh"].map((name, at) => `${name}: &${name} [${Array(9).fill(`*${"abcdefgh"[at]}`)}]`).join("\n")}\nalerts: []\n`;
    expect(messageOf(() => file(bomb))).toContain("Excessive alias count");
    expect(messageOf(() => file(`#${"x".repeat(1024 * 1024)}`))).toContain("larger than");
  });

  test("is the same for the same rules, and reads as they are", () => {
    const other = {
      ...ERRORS,
      name: "A: b",
      query: "* | count",
      for: "1m",
      labels: { severity: "critical" },
      message: "{{value}}\nnow",
    };
    const text = rulesText([ERRORS, other], DESTINATIONS);
    expect(text).toBe(`alerts:
  - name: "A: b"
    query: "* | count"
    condition: { kind: threshold, value: 10 }
    window: 5m
    for: 1m
    labels:
      severity: critical
    message: |-
      {{value}}
      now
    destinations: [ ops ]
  - name: Errors
    query: level:>=error | count by service
    condition: { kind: threshold, value: 10 }
    window: 5m
    destinations: [ ops ]
`);
    expect(rulesText([other, ERRORS], DESTINATIONS)).toBe(text);
    const { mutes: _, recovery: _r, delay: _d, ...listed } = other;
    const condition = { kind: "threshold", value: 10 };
    expect(file(text).withIds(DESTINATIONS).rules[0]).toEqual({ ...listed, condition });
    expect(file(rulesText([], [])).rules).toEqual([]);
    // A destination that was deleted has no name, and no file that names it can be applied.
    const gone = { ...ERRORS, destinations: ["dest_1", "dest_9"] };
    expect(file(rulesText([gone], DESTINATIONS)).rules[0]).toMatchObject({ destinations: ["ops"] });
    expect(leftOutOf([ERRORS, gone], DESTINATIONS)).toEqual([
      "Errors: left out destinations that were deleted: dest_9.",
    ]);
    // Mutes until a time begin during an incident. Those that recur belong to the rule.
    const weekend = { days: ["sat", "sun"], start: "00:00", end: "00:00", timeZone: "Europe/Berlin" };
    const muted = { ...ERRORS, delay: "30s", mutes: [{ from: "a", to: "b" }, weekend] };
    expect(file(rulesText([muted], [])).rules[0]).toMatchObject({ delay: "30s", mutes: [weekend] });
  });
});

test("a difference has the members that differ", () => {
  const plan = {
    changes: [
      { kind: "delete" as const, name: "Old", before: { ...ERRORS, name: "Old", query: "a" }, after: null },
      {
        kind: "change" as const,
        name: "Errors",
        before: { ...ERRORS, mutes: [{ from: "2026-11-20T00:00:00.000Z", to: "2026-11-21T00:00:00.000Z" }] },
        after: {
          ...ERRORS,
          condition: { value: 10, kind: "threshold", direction: "above" },
          window: "10m",
          destinations: ["dest_1", "dest_2"],
        },
      },
      {
        kind: "create" as const,
        name: "New\u001b[31m",
        before: null,
        after: { ...ERRORS, name: "New", destinations: [] },
      },
    ],
    unchanged: 3,
    others: ["Kept"],
  };
  expect(planLines(plan, DESTINATIONS, true, false)).toEqual([
    "- delete Old",
    "  - query: a",
    '  - condition: {"kind":"threshold","value":10}',
    "  - window: 5m",
    '  - destinations: ["ops"]',
    "~ change Errors (counts again from the beginning)",
    "  - window: 5m",
    "  + window: 10m",
    '  - destinations: ["ops"]',
    '  + destinations: ["ops","on call"]',
    '  - mutes: [{"from":"2026-11-20T00:00:00.000Z","to":"2026-11-21T00:00:00.000Z"}]',
    "+ create New\\u001b[31m",
    "  + query: level:>=error | count by service",
    '  + condition: {"kind":"threshold","value":10}',
    "  + window: 5m",
    "1 to create, 1 to change, 1 to delete, 3 unchanged. Not in the file: Kept.",
  ]);
  expect(planLines({ changes: [], unchanged: 1, others: [] }, [], false, false)).toEqual([
    "0 created, 0 changed, 0 deleted, 1 unchanged.",
  ]);
});

test("alerts have a line with their state, and decisions one with what decided", () => {
  const alert = {
    ...{ ...ERRORS, id: "alert_1", version: 2, state: "firing", groups: { live: 3, pending: 0, firing: 1 } },
    mutes: [
      { from: "2026-11-20T11:00:00.000Z", to: "2026-11-20T13:00:00.000Z" },
      { from: "2026-11-20T13:00:00.000Z", to: "2026-11-20T14:00:00.000Z" },
    ],
    ...{ position: { seq: 1, behind: 12 }, missing: 3, notCounted: 0, lastFiredAt: null },
  };
  expect(stateText(alert, NOW)).toMatch(
    /^firing, muted until 2026-11-\d\d \d\d:00, 12 entries behind, 3 entries missing$/,
  );
  expect(stateText({ ...alert, missingDestinations: ["dest_1"] }, NOW)).toMatch(/, no destination that exists$/);
  expect(stateText({ ...alert, destinations: [], missingDestinations: [] }, NOW)).toMatch(/, no destination$/);
  const nightly = { days: ["fri"], start: "20:00", end: "06:00", timeZone: "Asia/Tokyo" };
  expect(stateText({ ...alert, mutes: [nightly] }, NOW)).toContain("muted until");
  expect(alertTable([alert], NOW).rows).toEqual([["Errors", expect.any(String), "1 of 3", ">= 10", "5m", null]]);
  const decision = {
    ...{ at: "2026-11-20T12:00:00.000Z", kind: "firing", value: 12.345, version: 2, reported: false },
    ...{ group: { service: "a\u001b" }, seqRange: { from: 4, to: 9 } },
  };
  expect(decisionLine(decision, false)).toMatch(
    /firing {3}12\.35 service=a\\u001b seq 4\.\.9, version 2, not reported: muted$/,
  );
  expect(decisionLine({ ...decision, value: null, group: null, seqRange: null }, false)).toMatch(
    /firing {3}- version 2/,
  );
  expect(decisionLine({ ...decision, exact: false }, false)).toContain("~12.35");
});
