import { alertAccessOf, projectOf } from "../access.ts";
import type { CommandEnvironment, Shared } from "../commands.ts";
import { usage } from "../failure.ts";
import { parseDuration, parseTime } from "../time.ts";
import { countOf, text, type Values } from "../values.ts";

/** What is done with the alerts of a project. */
export type AlertAction =
  | { kind: "list" }
  | { kind: "export" }
  /** `alert`: a name or an id. */
  | { kind: "show" | "unmute" | "delete"; alert: string }
  | { kind: "history"; alert: string; limit: number }
  /** `file`: the rule is read from there instead of the project; without `alert` all rules of the file. */
  | { kind: "preview"; alert: string | null; file: string | null }
  /** Epoch milliseconds. */
  | { kind: "mute"; alert: string; from: number; to: number }
  /** `revision`: what the alerts must have; `null`: any. */
  | { kind: "apply"; file: string; isDryRun: boolean; prune: boolean; revision: string | null };

export interface AlertsCommand extends Shared {
  name: "alerts";
  project: string;
  /** The workspace, if the credential is an access token of a member; `null`: it is an API key. */
  workspace: string | null;
  action: AlertAction;
}

export const ALERT_ACTIONS = [
  "list",
  "show",
  "history",
  "preview",
  "mute",
  "unmute",
  "delete",
  "apply",
  "export",
] as const;

type Kind = (typeof ALERT_ACTIONS)[number];

/** Options of some actions only. */
const OWN: Readonly<Record<string, readonly Kind[]>> = {
  file: ["apply", "preview"],
  "dry-run": ["apply"],
  prune: ["apply"],
  revision: ["apply"],
  limit: ["history"],
  all: ["history"],
  for: ["mute"],
  from: ["mute"],
  until: ["mute"],
};

const DEFAULT_LIMIT = 50;

/** Reads `taffrail alerts <action> [<alert>]`. @throws Failure */
export function alertsOf(
  values: Values,
  [given, ...names]: readonly string[],
  environment: CommandEnvironment,
): AlertsCommand {
  const kind = ALERT_ACTIONS.find((each) => each === (given ?? "list"));
  if (kind === undefined) {
    throw usage(`taffrail alerts ${given}: must be one of ${ALERT_ACTIONS.join(", ")}. See taffrail alerts --help.`);
  }
  for (const [option, kinds] of Object.entries(OWN)) {
    if (values[option] !== undefined && !kinds.includes(kind)) {
      throw usage(`--${option} belongs to taffrail alerts ${kinds.join(" and ")}.`);
    }
  }
  // A name of several words may be given without quotes.
  const alert = names.join(" ").trim() || null;
  const { workspace, ...shared } = alertAccessOf(values, environment);
  const action = actionOf(kind, alert, values, environment.now);
  return { name: "alerts", ...shared, project: projectOf(shared), workspace, action };
}

function actionOf(kind: Kind, alert: string | null, values: Values, now: number): AlertAction {
  switch (kind) {
    case "list":
    case "export":
    case "apply":
      if (alert !== null) throw usage(`taffrail alerts ${kind} accepts only options, not ${alert}.`);
      return kind === "apply" ? applyOf(values) : { kind };
    case "preview": {
      const file = text(values, "file");
      if (alert === null && file === null)
        throw usage("Which alert? taffrail alerts preview <name>, or -f rules.yaml.");
      return { kind, alert, file };
    }
    case "history":
      return { kind, alert: needed(kind, alert), limit: limitOf(values) };
    case "mute":
      return { kind, alert: needed(kind, alert), ...timesOf(values, now) };
    case "show":
    case "unmute":
    case "delete":
      return { kind, alert: needed(kind, alert) };
  }
}

function needed(kind: Kind, alert: string | null): string {
  if (alert === null) throw usage(`Which alert? taffrail alerts ${kind} <name>.`);
  return alert;
}

function applyOf(values: Values): AlertAction {
  const file = text(values, "file");
  if (!file) throw usage("A file of rules is needed: taffrail alerts apply -f rules.yaml.");
  const revision = text(values, "revision");
  // An empty one, of a variable without a value, would apply without the guard.
  if (revision?.trim() === "") throw usage("--revision is empty: taffrail alerts apply --dry-run prints it.");
  return { kind: "apply", file, isDryRun: values["dry-run"] === true, prune: values.prune === true, revision };
}

function limitOf(values: Values): number {
  const limit = countOf("--limit", text(values, "limit"));
  if (limit !== null && values.all) throw usage("--limit and --all exclude each other.");
  return values.all ? Number.POSITIVE_INFINITY : (limit ?? DEFAULT_LIMIT);
}

function timesOf(values: Values, now: number): { from: number; to: number } {
  const [length, start, end] = [text(values, "for"), text(values, "from"), text(values, "until")];
  if ((length === null) === (end === null)) throw usage("How long? --for 2h, or --until 2026-11-20T14:00.");
  const from = start === null ? now : timeOf("--from", start);
  const ms = length === null ? null : parseDuration(length);
  if (length !== null && (ms === null || ms === 0)) throw usage(`--for ${length}: must be like 30m, 2h or 1d.`);
  const to = ms === null ? timeOf("--until", end ?? "") : from + ms;
  if (to <= Math.max(from, now)) throw usage("The mute ends before it begins, or is over.");
  return { from, to };
}

/** Parses a point in time. An age, which `parseTime` accepts, would be a time in the past. */
function timeOf(option: string, given: string): number {
  const ms = parseDuration(given) === null ? parseTime(given, 0) : null;
  if (ms === null) throw usage(`${option} ${given}: must be like 2026-11-20, 2026-11-20T14:00 or 2026-11-20T14:00Z.`);
  return ms;
}
