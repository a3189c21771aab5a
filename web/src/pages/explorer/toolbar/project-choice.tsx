import { useLocation } from "preact-iso";
import type { Project } from "../../../model/types.ts";
import css from "./toolbar.module.css";

interface ProjectChoiceProps {
  workspaceId: string;
  projectId: string | null;
  /** `null` until loaded. */
  projects: readonly Project[] | null;
  /** The query string to show the selected project with. */
  search: string;
}

export function ProjectChoice({ workspaceId, projectId, projects, search }: ProjectChoiceProps) {
  const { route } = useLocation();
  const isKnown = projectId === null || projects?.some(({ id }) => id === projectId);
  return (
    <label class={css.project}>
      <span class="visually-hidden">Project</span>
      <select
        value={projectId ?? ""}
        onChange={({ currentTarget }) => {
          const { value } = currentTarget;
          route(`/w/${workspaceId}${value === "" ? "" : `/p/${value}`}${search}`);
        }}
      >
        <option value="">All projects</option>
        {isKnown ? null : <option value={projectId ?? ""}>{projectId}</option>}
        {projects?.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
