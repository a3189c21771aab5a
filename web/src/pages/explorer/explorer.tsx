import { useRoute } from "preact-iso";
import { ExplorerPage } from "./explorer-page.tsx";

export function Explorer() {
  const { workspaceId = "", projectId } = useRoute().params;
  // Nothing of one workspace is shown in another, not even for a moment.
  return <ExplorerPage key={workspaceId} workspaceId={workspaceId} projectId={projectId ?? null} />;
}
