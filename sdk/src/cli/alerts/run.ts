import { readFile } from "node:fs/promises";
import { formatRefusal, type Refusal } from "../api.ts";
import { EXIT, Failure, reasonOf, usage } from "../failure.ts";
import { type Io, notice, writeLine } from "../io.ts";
import { jsonLine, shown } from "../pretty.ts";
import { record } from "../record.ts";
import { tableLines } from "../table.ts";
import { formatTime } from "../time.ts";
import { type Alert, AlertsApi } from "./alerts-api.ts";
import type { AlertAction, AlertsCommand } from "./command.ts";
import { planLines } from "./difference.ts";
import { alertTable, decisionLine, stateText } from "./pretty-alert.ts";
import type { Rule } from "./rule.ts";
import { RulesFile } from "./rules-file.ts";
import { leftOutOf, rulesText } from "./rules-text.ts";

type Action<K extends AlertAction["kind"]> = Extract<AlertAction, { kind: K }>;

/** Runs `taffrail alerts`. */
export async function alerts(io: Io, command: AlertsCommand): Promise<number> {
  const api = new AlertsApi(io, command);
  const { action } = command;
  switch (action.kind) {
    case "list":
      return list(io, api, command);
    case "show":
      return show(io, api, await api.find(action.alert), command);
    case "history":
      return history(io, api, action, command);
    case "preview":
      return preview(io, api, action, command);
    case "mute":
      return mute(io, api, action);
    case "unmute":
      return unmute(io, api, await api.find(action.alert));
    case "delete":
      return remove(io, api, await api.find(action.alert));
    case "apply":
      return apply(io, api, action, command);
    case "export":
      return exportRules(io, api);
  }
}

async function list(io: Io, api: AlertsApi, { json, colors }: AlertsCommand): Promise<number> {
  const all = await api.list();
  if (json) for (const alert of all) await writeLine(io, jsonLine(alert));
  else if (all.length > 0)
    for (const line of tableLines(alertTable(all, io.now()), false, colors)) await writeLine(io, line);
  else notice(io, "No alerts. Write rules to a file, and create them with taffrail alerts apply -f rules.yaml.");
  return EXIT.ok;
}

async function show(io: Io, api: AlertsApi, alert: Alert, { json }: AlertsCommand): Promise<number> {
  if (json) {
    await writeLine(io, jsonLine(alert));
    return EXIT.ok;
  }
  const [rule, destinations] = [await ruleOf(api, alert), await api.destinations()];
  const updated = formatTime(String(alert.updatedAt));
  await writeLine(io, shown(`# ${alert.id}, version ${alert.version} of ${updated}: ${stateText(alert, io.now())}`));
  for (const line of rulesText([rule], destinations).trimEnd().split("\n")) await writeLine(io, shown(line));
  for (const line of leftOutOf([rule], destinations)) notice(io, shown(line));
  return EXIT.ok;
}

async function history(
  io: Io,
  api: AlertsApi,
  { alert, limit }: Action<"history">,
  { json, colors }: AlertsCommand,
): Promise<number> {
  const { id } = await api.find(alert);
  let isEmpty = true;
  for await (const decision of api.decisions(id, limit)) {
    isEmpty = false;
    await writeLine(io, json ? jsonLine(decision) : decisionLine(decision, colors));
  }
  if (isEmpty) notice(io, "The alert has decided nothing in the last 30 days.");
  return EXIT.ok;
}

/** Returns the rule of an alert, without its state. */
async function ruleOf(api: AlertsApi, { name }: Alert): Promise<Rule> {
  const rule = (await rulesOf(api)).find((each) => each.name === name);
  if (rule === undefined) throw new Failure(`The alert ${name} was deleted meanwhile.`);
  return rule;
}

/** Returns all rules of the project: what an empty list would delete. */
async function rulesOf(api: AlertsApi): Promise<Rule[]> {
  const { changes } = await api.plan([], true);
  return changes.map(({ before }) => before).filter((before) => before !== null);
}

/** Members of a rule on which decisions do not depend, or that a preview leaves out. */
const TEXTS = ["name", "labels", "message", "destinations", "mutes"];

async function preview(
  io: Io,
  api: AlertsApi,
  { alert, file }: Action<"preview">,
  command: AlertsCommand,
): Promise<number> {
  if (file === null) return previewOne(io, api, await ruleOf(api, await api.find(alert ?? "")), command);
  const rules = await readRules(io, file);
  const chosen = [...rules.rules.entries()].filter(([, { name }]) => alert === null || name === alert);
  if (chosen.length === 0) throw usage(`${file} has no alert ${alert}.`);
  let code: number = EXIT.ok;
  for (const [at, rule] of chosen) {
    const refused = (refusal: Refusal) =>
      rules.failureOf(refusal.details, ["alerts", at]) ?? new Failure(formatRefusal(refusal));
    code = Math.max(code, await previewOne(io, api, rule, command, refused));
  }
  return code;
}

async function previewOne(
  io: Io,
  api: AlertsApi,
  rule: Rule,
  { json, colors }: AlertsCommand,
  onRefusal?: (refusal: Refusal) => Failure,
): Promise<number> {
  const { name } = rule;
  const answer = await api.preview(
    Object.fromEntries(Object.entries(rule).filter(([member]) => !TEXTS.includes(member))),
    onRefusal,
  );
  if (json) {
    await writeLine(io, jsonLine({ name, ...answer }));
  } else {
    const span = `from ${formatTime(String(answer.from))} to ${formatTime(String(answer.through))}`;
    const times = answer.firings === 1 ? "once" : `${answer.firings} times`;
    await writeLine(io, shown(`${name} would have fired ${times} ${span}.`));
    const decisions = Array.isArray(answer.decisions) ? answer.decisions : [];
    for (const decision of decisions) await writeLine(io, `  ${decisionLine(decision, colors)}`);
  }
  const notes: unknown[] = Array.isArray(answer.notes) ? answer.notes : [];
  for (const note of notes) notice(io, shown(`${name}: ${note}`));
  if (answer.complete === true) return EXIT.ok;
  notice(io, "The project has more entries than one preview reads. The times after that are missing.");
  return EXIT.incomplete;
}

async function mute(io: Io, api: AlertsApi, { alert, from, to }: Action<"mute">): Promise<number> {
  const found = await api.find(alert);
  const kept = mutesOf(found).filter((mute) => !isOver(record(mute)?.to, io.now()));
  await api.change(found, { mutes: [...kept, { from, to }] });
  await writeLine(io, shown(`${found.name} is muted until ${formatTime(new Date(to).toISOString())}.`));
  return EXIT.ok;
}

async function unmute(io: Io, api: AlertsApi, found: Alert): Promise<number> {
  const all = mutesOf(found);
  // Mutes that recur are part of the rule.
  const recurring = all.filter((mute) => record(mute)?.to === undefined);
  const isMuted = recurring.length < all.length;
  if (isMuted) await api.change(found, { mutes: recurring });
  const rest = recurring.length === 0 ? "" : " Its mutes of days of the week stay.";
  await writeLine(io, shown(`${found.name} is ${isMuted ? "no longer" : "not"} muted.${rest}`));
  return EXIT.ok;
}

/** Whether a mute until a time has ended. */
function isOver(to: unknown, now: number): boolean {
  return typeof to === "string" && Date.parse(to) <= now;
}

function mutesOf({ mutes }: Alert): unknown[] {
  return Array.isArray(mutes) ? mutes : [];
}

async function remove(io: Io, api: AlertsApi, found: Alert): Promise<number> {
  await api.remove(found);
  await writeLine(io, shown(`${found.name} is deleted.`));
  return EXIT.ok;
}

async function apply(
  io: Io,
  api: AlertsApi,
  { file, isDryRun, prune, revision }: Action<"apply">,
  { json, colors }: AlertsCommand,
): Promise<number> {
  const rules = await readRules(io, file);
  const destinations = await api.destinations();
  const { rules: wanted, unknown } = rules.withIds(destinations);
  const refused = (refusal: Refusal) =>
    rules.failureOf(refusal.details, [], unknown) ?? new Failure(formatRefusal(refusal));
  // The service finds what else is wrong with the file.
  const isCompared = isDryRun || unknown !== null;
  const plan = isCompared ? await api.plan(wanted, prune, refused) : await api.apply(wanted, prune, revision, refused);
  if (unknown !== null) throw unknown;
  if (isDryRun && revision !== null && plan.revision !== revision)
    throw new Failure(`The alerts of the project have changed: their revision is ${plan.revision}.`);
  if (json) await writeLine(io, jsonLine(plan));
  else for (const line of planLines(plan, destinations, isDryRun, colors)) await writeLine(io, line);
  if (isDryRun && !json && plan.revision !== null && plan.changes.length > 0)
    notice(io, `To apply this difference alone: --revision ${plan.revision}`);
  return isDryRun && plan.changes.length > 0 ? EXIT.incomplete : EXIT.ok;
}

async function exportRules(io: Io, api: AlertsApi): Promise<number> {
  const [rules, destinations] = [await rulesOf(api), await api.destinations()];
  await writeLine(io, rulesText(rules, destinations).trimEnd());
  for (const line of leftOutOf(rules, destinations)) notice(io, shown(line));
  return EXIT.ok;
}

/** @param file a path, or `-` for standard input */
async function readRules(io: Io, file: string): Promise<RulesFile> {
  if (file !== "-") {
    try {
      return new RulesFile(file, await readFile(file, "utf8"));
    } catch (error) {
      if (error instanceof Failure) throw error;
      throw usage(`${file} cannot be read (${reasonOf(error)}).`);
    }
  }
  const chunks: Buffer[] = [];
  for await (const chunk of io.stdin) chunks.push(Buffer.from(chunk));
  return new RulesFile("standard input", Buffer.concat(chunks).toString("utf8"));
}
