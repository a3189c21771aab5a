import { useMemo, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { type Loaded, useLoad } from "../../lib/load.ts";
import type { Project } from "../../model/types.ts";
import { loadProjects, retentionDaysOf } from "../../model/workspaces.ts";
import { askedOf } from "../explorer/search/asked.ts";
import { provideLanguage } from "../explorer/view/language.ts";
import * as language from "../explorer/view/language-parts.ts";
import { type Times, timesOf } from "../explorer/view/range.ts";
import { type ReadView, readView, type View, viewSearch } from "../explorer/view/view.ts";
import { viewOf } from "./links.ts";

provideLanguage(language);

/** Parameters of one tool, beside those of the view. An empty one is left out of the address. */
export type Own = Readonly<Record<string, string>>;

export interface Investigation {
  workspaceId: string;
  projectId: string | null;
  view: View;
  invalidParameters: readonly string[];
  /** The entries that are examined: the query of the view without pipes; empty if these are all. */
  filter: string;
  /** Whether the query has pipes, which are left out. */
  hasPipes: boolean;
  times: Times;
  /** Whether the query is not valid: the query box says why, and nothing is requested. */
  isInvalid: boolean;
  /** Bounds of requests. */
  bounds: { from?: string; to?: string };
  /** Changes with every reload. */
  round: number;
  projects: Loaded<Project[]>;
  /** Parameters of the tool, as the address has them. */
  own: URLSearchParams;
  /** Shows another view, or other parameters of the tool, in the address. */
  change: (view: Partial<View>, own?: Own) => void;
  /** Query string of the page, for the page of another project. */
  search: string;
  /** Loads everything again; a relative range counts back from now. */
  reload: () => void;
}

/** What the address of a tool states: the view of the explorer, and the tool's own parameters. */
export function useInvestigation(names: readonly string[]): Investigation {
  const { workspaceId = "", projectId: project } = useRoute().params;
  const { url, route } = useLocation();
  const projectId = project ?? null;
  const [round, setRound] = useState(0);
  const mark = url.indexOf("?");
  const search = mark < 0 ? "" : url.slice(mark);
  const { view, invalidParameters } = useMemo(() => readTool(search), [search]);
  const retentionDays = retentionDaysOf(workspaceId);
  const shown = viewSearch(view);
  const times = useMemo(
    () => timesOf(view.range, Date.now(), retentionDays),
    // The start of a relative range does not depend on the retention, which is loaded later.
    [shown, round, view.range.kind === "last" ? null : retentionDays],
  );
  const own = useMemo(() => {
    const params = new URLSearchParams(search);
    return new URLSearchParams(names.flatMap((name) => (params.get(name) ? [[name, params.get(name) ?? ""]] : [])));
  }, [search]);
  const asked = useMemo(() => askedOf(view.query ?? ""), [view.query]);
  const { from, to } = times;
  return {
    workspaceId,
    projectId,
    view,
    invalidParameters,
    filter: asked.q ?? "",
    hasPipes: asked.isAnswer,
    isInvalid: asked.isInvalid,
    times,
    bounds: { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) },
    round,
    projects: useLoad(workspaceId, (signal) => loadProjects(workspaceId, signal)),
    own,
    search: searchOf(view, own),
    change(patch, changed = {}) {
      const next = new URLSearchParams(own);
      for (const [name, value] of Object.entries(changed)) {
        if (value === "") next.delete(name);
        else next.set(name, value);
      }
      const wanted = searchOf({ ...view, ...patch }, next);
      if (wanted !== search) route(`${mark < 0 ? url : url.slice(0, mark)}${wanted}`);
    },
    reload: () => setRound((before) => before + 1),
  };
}

/** Reads the view of an address: its query and its range. */
function readTool(search: string): ReadView {
  const { view, invalidParameters } = readView(search);
  return { view: viewOf(view.query ?? "", view.range), invalidParameters };
}

function searchOf({ query, range }: View, own: URLSearchParams): string {
  const shown = viewSearch(viewOf(query ?? "", range));
  if (own.size === 0) return shown;
  return shown === "" ? `?${own}` : `${shown}&${own}`;
}
