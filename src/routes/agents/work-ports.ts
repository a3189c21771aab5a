import { createHmac, timingSafeEqual } from "node:crypto";
import type { Context } from "hono";
import { groupOf } from "../../alerts/decisions.ts";
import { countedOf, type RuleDefinition } from "../../alerts/definition.ts";
import { problemsOf } from "../../alerts/problems.ts";
import { shownGroup } from "../../alerts/template.ts";
import { type AppEnv, originOf } from "../../http/context.ts";
import { COUNTED } from "../../limits/state.ts";
import { notesOf } from "../../logs/search/query-text.ts";
import { type AlertPreview, ToolFault, type ToolPorts } from "../../mcp/tool.ts";
import { hintsOf } from "../../query-language/hints.ts";
import { callWorkspace } from "../../rpc/call.ts";
import type { AgentChange, AgentChangeCall } from "../../rpc/management.ts";
import type { Result } from "../../rpc/result.ts";
import { resultOf } from "../guards/workspace.ts";
import type { Reader } from "../logs/reader.ts";
import { alertBody, definitionOf } from "../workspaces/alert-body.ts";
import { previewAlert } from "../workspaces/alert-preview.ts";
import { viewBody } from "../workspaces/views.ts";
import { asFault, parsedBy } from "./tool-faults.ts";

/** Milliseconds for which the preview of an alert can be confirmed. */
const CONFIRM_MS = 30 * 60 * 1000;
const STALE = "confirm: Not that of a preview of this rule in the last 30 minutes. Call without `confirm` first.";

/** What tools do beside reading logs. */
export type WorkPorts = Pick<ToolPorts, "alerts" | "saveView" | "previewAlert" | "createAlert">;

/** @param caller whose request is admitted and counted */
export function workPorts(c: Context<AppEnv>, { caller, workspaceId }: Reader): WorkPorts {
  const change = <M extends AgentChange>(call: Omit<AgentChangeCall<M>, "caller" | "origin">) =>
    callWorkspace(c.env, workspaceId, "once", (stub) => stub.changeForAgent({ ...call, caller, origin: originOf(c) }));
  const received = <T>(result: Promise<Result<T>>) => asFault(async () => resultOf(c, await result));
  return {
    alerts: (projectId) =>
      received(callWorkspace(c.env, workspaceId, "replay-safe", (stub) => stub.alertsForAgent(caller, projectId))),
    saveView: async (projectId, view) => {
      const { name, projectId: _, ...content } = parsedBy(viewBody, view);
      const args: AgentChangeCall<"createSaved">["args"] = ["view", { name, projectId, content }];
      return (await received(change({ scope: "views:write", projectId, method: "createSaved", args }))).id;
    },
    previewAlert: async (projectId, rule) => {
      const definition = definitionIn(rule);
      const query = countedOf(definition);
      const reader = { caller, workspaceId, charge: COUNTED };
      const result = await asFault(() => previewAlert(c, reader, projectId, definition, query));
      const { decisions, firings, from, through, complete, entries, matched } = result;
      const preview: Omit<AlertPreview, "confirm"> = {
        ...{ firings, from, through, complete, entries },
        notes: notesOf(hintsOf(definition.query), matched),
        decisions: decisions.map(({ kind, key, at, value }) => {
          const said = groupOf(query, key);
          const group = said.group === null ? null : shownGroup(said);
          return { kind, at, group, value: Number.isFinite(value) ? value : null };
        }),
      };
      return { ...preview, confirm: confirmationOf(c, [workspaceId, projectId, definition], Date.now() + CONFIRM_MS) };
    },
    createAlert: async (projectId, rule, confirm) => {
      const definition = definitionIn(rule);
      const until = Number(confirm.split(".", 1)[0]);
      const isFresh = until > Date.now() && until <= Date.now() + CONFIRM_MS;
      const expected = isFresh ? confirmationOf(c, [workspaceId, projectId, definition], until) : "";
      if (!isFresh || !isSame(confirm, expected)) throw new ToolFault(STALE);
      const args: AgentChangeCall<"createAlert">["args"] = [projectId, definition];
      return (await received(change({ scope: "alerts:write", projectId, method: "createAlert", args }))).id;
    },
  };
}

/** @throws ToolFault */
function definitionIn(rule: Readonly<Record<string, unknown>>): RuleDefinition {
  const definition = definitionOf(parsedBy(alertBody, rule));
  const [problem] = problemsOf(definition);
  if (problem !== undefined) throw new ToolFault(`${problem.path}: ${problem.message}`);
  return definition;
}

/** Returns what proves that a rule was replayed: nothing is stored between the two calls. */
function confirmationOf(c: Context<AppEnv>, what: unknown, until: number): string {
  const key = createHmac("sha256", c.get("settings").REFRESH_PEPPER).update("taffrail alert preview").digest();
  return `${until}.${createHmac("sha256", key)
    .update(JSON.stringify([what, until]))
    .digest("base64url")
    .slice(0, 22)}`;
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
