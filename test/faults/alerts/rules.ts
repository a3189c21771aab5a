/** The fifty rules of the harness: of every kind, by several windows. */

export interface HarnessRule {
  name: string;
  query: string;
  condition: Record<string, unknown>;
  window: string;
  for?: string;
  recovery?: number;
  delay?: string;
}

const threshold = (value: number) => ({ kind: "threshold", value });
const below = (value: number) => ({ kind: "threshold", value, direction: "below" });
const rate = (value: number) => ({ kind: "rate", value });
const absence = (value: number) => ({ kind: "absence", value });
const change = (direction: "rise" | "fall", percent: number, min = 20) => ({ kind: "change", direction, percent, min });

const KINDS: readonly Omit<HarnessRule, "name" | "window">[] = [
  { query: "level:error", condition: threshold(120) },
  { query: "level:error | count by service", condition: threshold(60), recovery: 20 },
  { query: "level:error | count by service, tags", condition: threshold(70), for: "5s" },
  { query: "level:>=warn service:api", condition: rate(6), for: "10s" },
  { query: "* | count by service", condition: absence(30), recovery: 60 },
  { query: "service:mail", condition: absence(40) },
  { query: "level:error", condition: change("rise", 300) },
  { query: "* | count by service", condition: change("fall", 70, 100) },
  { query: "* | stats p99(ms) by service", condition: threshold(2100), recovery: 500 },
  { query: "* | stats p50(ms)", condition: threshold(900) },
  { query: "* | stats avg(ms) by service", condition: threshold(1100), for: "3s" },
  { query: "* | stats max(ms) by service", condition: below(350) },
  { query: "level:error | stats min(ms)", condition: threshold(150) },
  { query: "* | stats sum(share) by service", condition: threshold(2500), recovery: 0 },
  { query: "* | stats sum(ms)", condition: rate(40_000) },
  { query: "* | stats count_distinct(user)", condition: threshold(380), recovery: 100 },
  { query: "level:error | stats count_distinct(user) by service", condition: absence(8), recovery: 20 },
  { query: "* | stats avg(share)", condition: below(-4) },
  { query: "* | stats p90(ms)", condition: change("rise", 400) },
  { query: "level:error | count by service", condition: threshold(60), delay: "10s" },
  { query: "* | stats p95(ms) by service", condition: threshold(1900), delay: "5s" },
  { query: "service:db", condition: absence(50), delay: "15s" },
  { query: "request", condition: { kind: "new-pattern" } },
  { query: '"request 7" OR route:"/r/3"', condition: threshold(150) },
  { query: "user:~/^u1/ -service:api", condition: rate(5) },
];

export const HARNESS_RULES: readonly HarnessRule[] = ["1m", "4m"].flatMap((window, at) =>
  KINDS.map((kind, index) => ({ ...kind, name: `rule ${at * KINDS.length + index + 1}`, window })),
);
