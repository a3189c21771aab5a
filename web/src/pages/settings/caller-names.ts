import { useEffect, useState } from "preact/hooks";
import { loadGrantsIn } from "../../model/grants.ts";
import type { ApiKey, Member } from "../../model/types.ts";
import { allOf, loadProjects } from "../../model/workspaces.ts";

/** Projects whose keys are searched for a name. Keys of other projects are shown by id. */
const PROJECTS_LOOKED_AT = 40;

/** Label of a counter's identifier: a key's name and project, a member's address, or an agent's name. */
export type Name = (identifier: string) => string;

/** Loads labels for the identifiers of counters, each once. Until then, and on failure, ids are shown. */
export function useNames(workspaceId: string, identifiers: readonly string[]): Name {
  const [known, setKnown] = useState<ReadonlyMap<string, string>>(new Map());
  const [tried, setTried] = useState<ReadonlySet<string>>(new Set());
  const wanted = [...new Set(identifiers)].filter((identifier) => !tried.has(identifier)).sort();
  useEffect(() => {
    if (wanted.length === 0) return;
    const controller = new AbortController();
    namesOf(workspaceId, wanted, controller.signal).then(
      (names) => {
        if (controller.signal.aborted) return;
        setKnown((before) => new Map([...before, ...names]));
        setTried((before) => new Set([...before, ...wanted]));
      },
      // A failure leaves the ids.
      () => undefined,
    );
    return () => controller.abort();
  }, [workspaceId, wanted.join()]);
  return (identifier) => known.get(identifier) ?? spelled(identifier);
}

async function namesOf(
  workspaceId: string,
  wanted: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  const missing = (kind: string): boolean => wanted.some((name) => name.startsWith(kind) && !names.has(name));
  if (missing("user:")) {
    const members = await allOf<Member>(`/workspaces/${workspaceId}/members`, undefined, signal);
    for (const { userId, email } of members) if (email !== null) names.set(`user:${userId}`, email);
  }
  if (missing("grant:")) {
    const grants = await loadGrantsIn(workspaceId, signal);
    for (const { id, client, email } of grants)
      names.set(`grant:${id}`, `${client.name} (agent of ${email ?? "a member"})`);
  }
  if (!missing("key:")) return names;
  const projects = await loadProjects(workspaceId, signal);
  for (const project of projects.slice(0, PROJECTS_LOOKED_AT)) {
    if (!missing("key:")) break;
    const keys = await allOf<ApiKey>(`/projects/${project.id}/keys`, workspaceId, signal);
    for (const { id, name } of keys) names.set(`key:${id}`, `${name} (key of ${project.name})`);
  }
  return names;
}

/** Fallback label, for example for a deleted key or a former member. */
function spelled(identifier: string): string {
  const [kind = "", id = ""] = identifier.split(":", 2);
  if (kind === "key") return `Key ${id}`;
  if (kind === "grant") return `Agent ${id}`;
  return kind === "user" ? `Member ${id}` : identifier;
}
