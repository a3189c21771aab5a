/** Text of a counter's rule. */
export function ruleInWords(rule: string): string {
  if (rule === "default") return "the workspace default";
  return rule === "API_DEFAULT" ? "the preset" : rule;
}

const COUNT = new Intl.NumberFormat();

/** "1,000 requests in 60 s". */
export function limitInWords({ limit, windowSeconds }: { limit: number; windowSeconds: number }): string {
  return `${COUNT.format(limit)} ${limit === 1 ? "request" : "requests"} in ${windowSeconds} s`;
}
