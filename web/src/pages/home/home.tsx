import { user } from "../../session/session.ts";
import { VisitorHome } from "./visitor/visitor-home.tsx";
import { WorkspaceList } from "./workspace-list.tsx";

/** The start page: the user's workspaces, or an introduction if signed out. */
export function Home() {
  return user.value === null ? <VisitorHome /> : <WorkspaceList />;
}
