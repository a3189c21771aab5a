import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { Project } from "../../../model/types.ts";
import { pressOn } from "../../../ui/shortcuts/shortcuts.ts";
import { toast } from "../../../ui/toasts.tsx";
import { type View, viewSearch } from "../view/view.ts";

/** Project whose live view began on the page of all projects, to which its end leads back. */
let left: string | null = null;

export interface Follow {
  /** Turns live on or off. */
  toggle: () => void;
  /** Projects of which one must be chosen first. */
  choices: readonly Project[];
  /** Turns live on for one of the choices. */
  follow: (project: Project) => void;
}

/** Live follows one project: that of the page, the only one, or one that the reader chooses. */
export function useFollow(
  workspaceId: string,
  projectId: string | null,
  projects: readonly Project[] | null,
  view: View,
  change: (change: (view: View) => View) => void,
): Follow {
  const { route } = useLocation();
  // A later link to the live view of the same project did not begin on the page of all projects.
  useEffect(
    () => () => {
      if (projectId !== null) left = null;
    },
    [projectId],
  );
  const choices = projectId === null && projects !== null && projects.length > 1 ? projects : [];
  const follow = ({ id }: Project): void => {
    left = id;
    route(`/w/${workspaceId}/p/${id}${viewSearch(withLive(view, true))}`);
  };
  const toggle = (): void => {
    const [only] = projects ?? [];
    if (projectId !== null && view.live && left === projectId) {
      left = null;
      route(`/w/${workspaceId}${viewSearch(withLive(view, false))}`);
    } else if (projectId !== null) {
      left = null;
      change((before) => withLive(before, !before.live));
    } else if (choices.length > 0) pressOn("live");
    // How many projects there are is unknown until they are loaded.
    else if (only !== undefined) {
      follow(only);
      toast(`Live follows the project ${only.name}.`);
    }
  };
  return { toggle, choices, follow };
}

/** Turns live on or off. Live requires an open range and the newest entries first. */
function withLive(view: View, live: boolean): View {
  if (!live) return { ...view, live };
  const { range } = view;
  const isClosed = range.kind === "between" && range.to !== null;
  return {
    ...view,
    live,
    order: "desc",
    range: !isClosed ? range : range.from === null ? { kind: "all" } : { ...range, to: null },
  };
}
