import { user } from "../../session/session.ts";
import { Stranger } from "./stranger.tsx";
import { WorkspaceList } from "./workspace-list.tsx";

/** The start: one's workspaces, or for who is not signed in what this is. */
export function Home() {
  return user.value === null ? <Stranger /> : <WorkspaceList />;
}
