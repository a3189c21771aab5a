import { user } from "../../session/session.ts";
import { SignedOutHome } from "./signed-out-home.tsx";
import { WorkspaceList } from "./workspace-list.tsx";

/** The start page: the user's workspaces, or an introduction if signed out. */
export function Home() {
  return user.value === null ? <SignedOutHome /> : <WorkspaceList />;
}
