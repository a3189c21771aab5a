import { useEffect, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { loadWorkspaces, workspaces } from "../../model/workspaces.ts";
import { Loading } from "../../ui/states.tsx";
import { useLazy } from "../../ui/use-lazy.ts";
import { LinkedWorkspace } from "../investigate/linked-workspace.ts";
import { ExplorerPage } from "./explorer-page.tsx";
import { NotFoundInExplorer } from "./not-found.tsx";
import { needsLanguage } from "./view/language.ts";
import { LANGUAGE } from "./view/load-language.ts";

export function Explorer() {
  const { workspaceId = "", projectId } = useRoute().params;
  const { url } = useLocation();
  const mark = url.indexOf("?");
  const isNeeded = mark >= 0 && needsLanguage(url.slice(mark));
  const parts = useLazy(LANGUAGE, isNeeded, () => undefined);
  const isMissing = workspaces.value?.every(({ id }) => id !== workspaceId) ?? false;
  const [checked, setChecked] = useState<string | null>(null);
  useEffect(() => {
    if (!isMissing) return;
    // The workspace may be newer than the loaded list.
    let wanted = true;
    void loadWorkspaces().then(() => {
      if (wanted) setChecked(workspaceId);
    });
    return () => {
      wanted = false;
    };
  }, [isMissing, workspaceId]);
  if (isMissing) return checked === workspaceId ? <NotFoundInExplorer workspaceId={null} /> : <Loading />;
  if (isNeeded && parts === null) return <Loading />;
  // The key remounts the page, so that it never shows entries of another workspace.
  return (
    <LinkedWorkspace.Provider value={workspaceId}>
      <ExplorerPage key={workspaceId} workspaceId={workspaceId} projectId={projectId ?? null} />
    </LinkedWorkspace.Provider>
  );
}
