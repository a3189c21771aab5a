import { useEffect, useState } from "preact/hooks";
import { useRoute } from "preact-iso";
import { loadWorkspaces, workspaces } from "../../model/workspaces.ts";
import { Loading } from "../../ui/states.tsx";
import { ExplorerPage } from "./explorer-page.tsx";
import { Unknown } from "./unknown.tsx";

export function Explorer() {
  const { workspaceId = "", projectId } = useRoute().params;
  const isMissing = workspaces.value?.every(({ id }) => id !== workspaceId) ?? false;
  const [checked, setChecked] = useState<string | null>(null);
  useEffect(() => {
    if (!isMissing) return;
    // It may be younger than the list.
    let wanted = true;
    void loadWorkspaces().then(() => {
      if (wanted) setChecked(workspaceId);
    });
    return () => {
      wanted = false;
    };
  }, [isMissing, workspaceId]);
  if (isMissing) return checked === workspaceId ? <Unknown workspaceId={null} /> : <Loading />;
  // Nothing of one workspace is shown in another, not even for a moment.
  return <ExplorerPage key={workspaceId} workspaceId={workspaceId} projectId={projectId ?? null} />;
}
