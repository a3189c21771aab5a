import {
  type Limit,
  type LimitConfiguration,
  type LimitRule,
  RULE_METHODS,
} from "../../../../../src/limits/cascade.ts";

/** A limit as it is being typed. */
export interface LimitDraft {
  limit: string;
  windowSeconds: string;
}

export interface RuleDraft extends LimitDraft {
  /** Tells rows apart while they come and go. */
  id: number;
  method: LimitRule["method"];
  path: string;
}

export interface Draft {
  /** Null: the preset. */
  default: LimitDraft | null;
  rules: readonly RuleDraft[];
}

const NO_PATH = "needs a path";
const NO_NUMBER = "This must be a whole number.";
const DEFAULT_WINDOW = "60";
/** A limit to begin with where somebody sets a default of his own: the preset's. */
export const FIRST_DEFAULT: LimitDraft = { limit: "1000", windowSeconds: DEFAULT_WINDOW };

let lastId = 0;

export function draftOf(configuration: LimitConfiguration): Draft {
  return {
    default: configuration.default && typed(configuration.default),
    rules: configuration.rules.map((rule) => ({ ...typed(rule), id: ++lastId, method: rule.method, path: rule.path })),
  };
}

/** A draft of an earlier load of the page, with ids that no other row of this one has. */
export function renumbered(draft: Draft): Draft {
  return { ...draft, rules: draft.rules.map((rule) => ({ ...rule, id: ++lastId })) };
}

export function newRule(): RuleDraft {
  return { id: ++lastId, method: "POST", path: "", limit: "", windowSeconds: DEFAULT_WINDOW };
}

export function methodOf(text: string): LimitRule["method"] {
  return RULE_METHODS.find((method) => method === text) ?? "*";
}

/** What is wrong before anything is sent: paths that are missing and numbers that are none, by the path that the API would name. */
export function faultsOf(draft: Draft): ReadonlyMap<string, string> {
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

/** The draft as the API takes it. Rows whose numbers are none are left out: `faultsOf` names them. */
export function configurationOf(draft: Draft): LimitConfiguration {
  const rules = draft.rules.flatMap((rule) => {
    const limit = limitOf(rule);
    return limit ? [{ method: rule.method, path: rule.path.trim(), ...limit }] : [];
  });
  return { default: draft.default && limitOf(draft.default), rules };
}

/** Whether two configurations say the same, in the same order. */
export function isSame(one: LimitConfiguration, other: LimitConfiguration): boolean {
  const text = ({ default: rest, rules }: LimitConfiguration): string =>
    JSON.stringify([
      rest && [rest.limit, rest.windowSeconds],
      rules.map((rule) => [rule.method, rule.path, rule.limit, rule.windowSeconds]),
    ]);
  return text(one) === text(other);
}

/** Whether the draft says something else than the configuration, unfinished rows included. */
export function isChanged(draft: Draft, configuration: LimitConfiguration): boolean {
  return faultsOf(draft).size > 0 || !isSame(configurationOf(draft), configuration);
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
