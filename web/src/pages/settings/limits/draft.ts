import type { Limit, LimitConfiguration, LimitRule } from "../../../../../src/limits/cascade.ts";

/** A limit while it is edited. */
export interface LimitDraft {
  limit: string;
  windowSeconds: string;
}

export interface RuleDraft extends LimitDraft {
  /** Identifies a row while rows are added and removed. */
  id: number;
  method: LimitRule["method"];
  path: string;
}

export interface Draft {
  /** `null` for the preset. */
  default: LimitDraft | null;
  rules: readonly RuleDraft[];
}

const NO_PATH = "Enter a path.";
const NO_NUMBER = "Enter a whole number.";
const DEFAULT_WINDOW = "60";
/** Initial value of a custom default: the preset. */
export const FIRST_DEFAULT: LimitDraft = { limit: "1000", windowSeconds: DEFAULT_WINDOW };

let lastId = 0;

export function draftOf(configuration: LimitConfiguration): Draft {
  return {
    default: configuration.default && typed(configuration.default),
    rules: configuration.rules.map((rule) => ({ ...typed(rule), id: ++lastId, method: rule.method, path: rule.path })),
  };
}

/** Renumbers a draft that an earlier load of the page stored, so that its ids are unique. */
export function renumbered(draft: Draft): Draft {
  return { ...draft, rules: draft.rules.map((rule) => ({ ...rule, id: ++lastId })) };
}

export function newRule(): RuleDraft {
  return { id: ++lastId, method: "POST", path: "", limit: "", windowSeconds: DEFAULT_WINDOW };
}

/** Validates a draft before it is sent: missing paths and invalid numbers, by the paths that the API would report. */
export function draftErrorsOf(draft: Draft): ReadonlyMap<string, string> {
  const faults = new Map<string, string>();
  const look = (limit: LimitDraft, path: string): void => {
    if (numberOf(limit.limit) === null) faults.set(`${path}.limit`, NO_NUMBER);
    if (numberOf(limit.windowSeconds) === null) faults.set(`${path}.windowSeconds`, NO_NUMBER);
  };
  if (draft.default) look(draft.default, "default");
  draft.rules.forEach((rule, index) => {
    if (rule.path.trim() === "") faults.set(`rules.${index}.path`, NO_PATH);
    look(rule, `rules.${index}`);
  });
  return faults;
}

/** The draft as the API accepts it, without rows whose numbers are invalid; `faultsOf` reports those. */
export function configurationOf(draft: Draft): LimitConfiguration {
  const rules = draft.rules.flatMap((rule) => {
    const limit = limitOf(rule);
    return limit ? [{ method: rule.method, path: rule.path.trim(), ...limit }] : [];
  });
  return { default: draft.default && limitOf(draft.default), rules };
}

/** Whether two configurations are equal, including the order of rules. */
export function isSame(one: LimitConfiguration, other: LimitConfiguration): boolean {
  const text = ({ default: rest, rules }: LimitConfiguration): string =>
    JSON.stringify([
      rest && [rest.limit, rest.windowSeconds],
      rules.map((rule) => [rule.method, rule.path, rule.limit, rule.windowSeconds]),
    ]);
  return text(one) === text(other);
}

/** Whether the draft differs from the configuration. Unfinished rows count as changes. */
export function isChanged(draft: Draft, configuration: LimitConfiguration): boolean {
  return draftErrorsOf(draft).size > 0 || !isSame(configurationOf(draft), configuration);
}

function typed({ limit, windowSeconds }: Limit): LimitDraft {
  return { limit: String(limit), windowSeconds: String(windowSeconds) };
}

function limitOf({ limit, windowSeconds }: LimitDraft): Limit | null {
  const [count, seconds] = [numberOf(limit), numberOf(windowSeconds)];
  return count === null || seconds === null ? null : { limit: count, windowSeconds: seconds };
}

function numberOf(text: string): number | null {
  return /^\d{1,15}$/.test(text.trim()) ? Number(text) : null;
}
