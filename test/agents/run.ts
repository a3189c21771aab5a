/**
 * Plants incidents among 200,000 entries of a day, and asks 20 questions about them.
 *
 * `npm run test:agents -- plant --url URL --project ID --key KEY [--seed N] [--end TIME]` sends the entries and prints the questions as JSON.
 * `npm run test:agents -- check --answers FILE [--seed N] --end TIME` says which answers are right: a JSON object of answers by the number of
 * their question. The same seed and end make the same entries. What an agent has for its answers are the tools of `/mcp` alone.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { Random } from "../faults/random.ts";
import { INCIDENTS, type Question } from "./incidents.ts";
import { type AgentEntry, requests } from "./traffic.ts";

const ENTRIES = 200_000;
/** Entries of a request. */
const BATCH = 5_000;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    url: { type: "string" },
    project: { type: "string" },
    key: { type: "string" },
    answers: { type: "string" },
    seed: { type: "string", default: "1" },
    end: { type: "string", default: new Date(Date.now() - 60_000).toISOString() },
  },
});

const { entries, questions } = planted(Number(values.seed), Date.parse(values.end));
switch (positionals[0]) {
  case "plant":
    await send(entries);
    print({ end: values.end, entries: entries.length, questions: questions.map(({ text }) => text) });
    break;
  case "check":
    check(JSON.parse(readFileSync(required(values.answers, "answers"), "utf8")));
    break;
  default:
    throw new Error("The command is plant or check.");
}

function planted(seed: number, end: number): { entries: AgentEntry[]; questions: Question[] } {
  const random = new Random(seed);
  const incidents = INCIDENTS.map((make, at) => make(random.fork(`incident ${at}`), end));
  const own = incidents.flatMap((incident) => incident.entries);
  const all = [...own, ...requests(random.fork("requests"), ENTRIES - own.length, end)];
  all.sort((a, b) => (a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0));
  return { entries: all, questions: incidents.flatMap((incident) => incident.questions) };
}

async function send(all: readonly AgentEntry[]): Promise<void> {
  const [url, key] = [required(values.url, "url"), required(values.key, "key")];
  for (let at = 0; at < all.length; at += BATCH) {
    const body = all.slice(at, at + BATCH).map((entry) => JSON.stringify(entry));
    const response = await fetch(`${url}/logger/${required(values.project, "project")}/log`, {
      method: "POST",
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/x-ndjson" },
      body: body.join("\n"),
    });
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
    await response.arrayBuffer();
  }
}

function check(answers: Record<string, string>): void {
  const results = questions.map(({ text, facts, never }, at) => {
    const answer = answers[at + 1] ?? "";
    const missing = facts.filter((fact) => !fact.test(answer)).map(({ source }) => source);
    const isRight = missing.length === 0 && !never?.test(answer);
    return { number: at + 1, isRight, text, answer, ...(isRight ? {} : { missing }) };
  });
  print({ right: results.filter(({ isRight }) => isRight).length, of: results.length, results });
}

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

function required(value: string | undefined, name: string): string {
  if (value === undefined) throw new Error(`--${name} is missing.`);
  return value;
}
