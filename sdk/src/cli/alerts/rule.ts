/** Rules of alerts, and how a file changes those of a project, as the API has them. */

/** Members of a rule, without state. */
export type Rule = Readonly<Record<string, unknown>>;

export interface PlannedChange {
  kind: "create" | "change" | "delete";
  name: string;
  before: Rule | null;
  after: Rule | null;
}

export interface Plan {
  changes: readonly PlannedChange[];
  unchanged: number;
  /** Names of alerts that are not in the list and stay. */
  others: readonly string[];
  /** Of the alerts that were compared; `null` from a service that has none. */
  revision: string | null;
}

export interface NamedDestination {
  id: string;
  name: string;
}

/** What the service says against a member of a request. */
export interface RuleDetail {
  path?: unknown;
  message?: unknown;
  /** Of a query's text: the UTF-16 offset of the fault. */
  position?: unknown;
}
