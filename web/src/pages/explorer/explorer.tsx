import { useEffect, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { loadWorkspaces, workspaces } from "../../model/workspaces.ts";
import { Loading } from "../../ui/states.tsx";
import { LinkedWorkspace } from "../investigate/linked-workspace.ts";
import { ExplorerPage } from "./explorer-page.tsx";
import { NotFoundInExplorer } from "./not-found.tsx";
import { useLanguageFor } from "./view/load-language.ts";

export function Explorer() {
  const { workspaceId = "", projectId } = useRoute().params;
  const { url } = useLocation();
  const hasLanguage = useLanguageFor(url);
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
  if (!hasLanguage) return <Loading />;
  // The key remounts the page, so that it never shows entries of another workspace.
  return (
    <LinkedWorkspace.Provider value={workspaceId}>
      <ExplorerPage key={workspaceId} workspaceId={workspaceId} projectId={projectId ?? null} />
    </LinkedWorkspace.Provider>
  );
}
