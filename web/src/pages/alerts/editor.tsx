import { useMemo } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { useLoad } from "../../lib/load.ts";
import { loadAlert, loadVersions } from "../../model/alerts.ts";
import type { Destination } from "../../model/types.ts";
import { allOf, loadProjects } from "../../model/workspaces.ts";
import { Page } from "../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { provideLanguage } from "../explorer/view/language.ts";
import * as languageParts from "../explorer/view/language-parts.ts";
import { readView } from "../explorer/view/view.ts";
import { AlertForm } from "./alert-form.tsx";
import { ruleQuery } from "./alert-query.ts";
import { draftOf, newDraft } from "./draft.ts";

// The address has a query, and the box shows its colours at once.
provideLanguage(languageParts);

/** A new alert. The address has the search that it starts from, as the explorer's has it, and its project. */
export function NewAlert() {
  const { workspaceId = "" } = useRoute().params;
  const { query } = useLocation();
  const lists = useLists(workspaceId);
  const start = useMemo(() => {
    const { view } = readView(location.search);
    return ruleQuery(view.query ?? "*");
  }, []);
  const { projects, destinations } = lists;
  if (projects === null || destinations === null) return <Waiting title="New alert" lists={lists} />;
  const [first] = projects;
  if (first === undefined) {
    return (
      <Page title="New alert">
        <Empty title="No projects">
          <p>An alert belongs to a project. Create one first.</p>
          <a href={`/w/${workspaceId}/settings/projects`}>Projects</a>
        </Empty>
      </Page>
    );
  }
  const projectId = projects.find(({ id }) => id === query.project)?.id ?? first.id;
  const draft = newDraft(start === "*" ? "" : start, destinations.length === 1 ? destinations.map(({ id }) => id) : []);
  return (
    <AlertForm
      workspaceId={workspaceId}
      projectId={projectId}
      alert={null}
      draft={draft}
      lists={{ projects, destinations }}
    />
  );
}

/** A change of an alert. With `version` in the address it starts from that version. */
export function EditAlert() {
  const { workspaceId = "", projectId = "", alertId: id = "" } = useRoute().params;
  const { version } = useLocation().query;
  const lists = useLists(workspaceId);
  const loaded = useLoad(`${workspaceId} ${projectId} ${id} ${version}`, async (signal) => {
    const ref = { projectId, id };
    const [alert, versions] = await Promise.all([
      loadAlert(workspaceId, ref, signal),
      version === undefined ? [] : loadVersions(workspaceId, ref, signal),
    ]);
    return { alert, start: versions.find((each) => String(each.version) === version) ?? alert };
  });
  const { projects, destinations } = lists;
  if (loaded.data === null || projects === null || destinations === null) {
    return <Waiting title="Edit alert" lists={loaded.failure === null ? lists : loaded} />;
  }
  const { alert, start } = loaded.data;
  const existing = new Set(destinations.map((each) => each.id));
  const draft = draftOf({ ...start, destinations: start.destinations.filter((each) => existing.has(each)) });
  return (
    <AlertForm
      workspaceId={workspaceId}
      projectId={projectId}
      alert={alert}
      draft={draft}
      lists={{ projects, destinations }}
    />
  );
}

/** What the editor offers to choose from. */
function useLists(workspaceId: string) {
  const projects = useLoad(workspaceId, (signal) => loadProjects(workspaceId, signal));
  const destinations = useLoad(workspaceId, (signal) =>
    allOf<Destination>(`/workspaces/${workspaceId}/destinations`, undefined, signal),
  );
  return {
    projects: projects.data,
    destinations: destinations.data,
    failure: projects.failure ?? destinations.failure,
    reload: projects.failure === null ? destinations.reload : projects.reload,
  };
}

function Waiting({
  title,
  lists: { failure, reload },
}: {
  title: string;
  lists: Pick<ReturnType<typeof useLists>, "failure" | "reload">;
}) {
  return <Page title={title}>{failure === null ? <Loading /> : <Failure failure={failure} onRetry={reload} />}</Page>;
}
