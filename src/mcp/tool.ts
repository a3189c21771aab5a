import type { z } from "zod";
import type { AgentScope } from "../keys/scopes.ts";
import type { SearchAnswer, SearchedRange, SearchQuery } from "../logs/search/search-query.ts";
import type { Changes } from "../tail/changes.ts";
import type { ContextWish, EntryContext } from "../tail/context.ts";
import type { AgentAccess, AgentProject } from "../workspace/agent-access.ts";
import type { AgentAlert } from "../workspace/agent-work.ts";
import type { Answer } from "./answer.ts";

/** A call that cannot be answered. The message is for the agent: words of the service, never of entries. */
export class ToolFault extends Error {}

/** What a tool reads. */
export interface ToolPorts {
  access: AgentAccess;
  /** Epoch milliseconds. */
  now: number;
  /**
   * Runs a search. `use` takes what it needs of the answer, whose memory is freed afterwards.
   * @param body of `POST /logger/search`
   * @throws ToolFault
   */
  search<T>(
    body: Readonly<Record<string, unknown>>,
    use: (answer: SearchAnswer & { range: SearchedRange }) => T,
    options?: Pick<SearchQuery, "describesPatterns">,
  ): Promise<T>;
  /** Reads an entry and its neighbours; `null` if it does not exist. @throws ToolFault */
  context<T>(projectId: string, wish: ContextWish, use: (found: EntryContext | null) => T): Promise<T>;
  /** Reads what arrived after a `seq`. @param filter of the query language @throws ToolFault */
  changes<T>(
    projectId: string,
    wish: { after: number; filter: string; limit: number },
    use: (changes: Changes) => T,
  ): Promise<T>;
  /** Returns the alerts of the projects, or of one. @throws ToolFault */
  alerts(projectId: string | null): Promise<AgentAlert[]>;
  /** Saves a view: the body of `POST /workspaces/{id}/views`. @returns its id @throws ToolFault */
  saveView(projectId: string | null, view: Readonly<Record<string, unknown>>): Promise<string>;
  /** Replays a rule: the body of `POST /projects/{id}/alerts`. @throws ToolFault */
  previewAlert(projectId: string, rule: Readonly<Record<string, unknown>>): Promise<AlertPreview>;
  /** Creates an alert whose preview has returned `confirm`. @returns its id @throws ToolFault */
  createAlert(projectId: string, rule: Readonly<Record<string, unknown>>, confirm: string): Promise<string>;
}

/** What a rule would have decided, and what confirms it. Times are epoch milliseconds. */
export interface AlertPreview {
  firings: number;
  decisions: readonly {
    kind: "firing" | "resolved";
    group: Readonly<Record<string, string>> | null;
    at: number;
    value: number | null;
  }[];
  from: number;
  through: number;
  complete: boolean;
  entries: number;
  /** What the query probably does not do as intended. */
  notes: readonly string[];
  confirm: string;
}

/** A tool of the MCP server. */
export interface Tool<S extends z.ZodType = z.ZodType> {
  name: string;
  title: string;
  description: string;
  input: S;
  /** What it requires beside `logs:read`. Lists have it only for tokens with this scope. */
  scope?: AgentScope;
  /** What a call asks, as the audit shows it; `null` if the tool takes no text. */
  question(args: z.output<S>): string | null;
  run(args: z.output<S>, ports: ToolPorts): Promise<Answer>;
}

export function tool<const S extends z.ZodType>(definition: Tool<S>): Tool<S> {
  return definition;
}

/** Returns the project that a call names by id or name; the only one, or `null` for all, if it names none. */
export function projectOf({ access }: ToolPorts, named: string | undefined): AgentProject | null {
  const { projects } = access;
  if (named === undefined) return projects.length === 1 ? (projects[0] ?? null) : null;
  const found = projects.find(({ id, name }) => id === named || name === named);
  if (found === undefined) throw new ToolFault("project: Not found. `describe` lists the projects.");
  return found;
}

/** Like `projectOf`, for a tool that reads one project. */
export function oneProject(ports: ToolPorts, named: string | undefined): AgentProject {
  const project = projectOf(ports, named);
  if (project === null) throw new ToolFault("project: Required, because there are several. `describe` lists them.");
  return project;
}

/** Returns the entries that are known to be missing in the times of an answer. */
export function gapsIn({ access }: ToolPorts, projectId: string | null, { from, to }: SearchedRange): number {
  const [start, end] = [from === null ? 0 : Date.parse(from), to === null ? Number.POSITIVE_INFINITY : Date.parse(to)];
  return access.gaps
    .filter((gap) => (projectId === null || gap.projectId === projectId) && gap.at >= start && gap.at < end)
    .reduce((sum, { entries }) => sum + entries, 0);
}
