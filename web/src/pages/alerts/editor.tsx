import { useMemo, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { fieldError, useAction } from "../../lib/action.ts";
import { useLoad } from "../../lib/load.ts";
import { type Alert, changeAlert, createAlert, loadAlert, loadVersions, type Preview } from "../../model/alerts.ts";
import { reasonAgainst } from "../../model/roles.ts";
import type { Destination, Project } from "../../model/types.ts";
import { allOf, loadProjects, workspaces } from "../../model/workspaces.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Page, Row, useTitle } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Select } from "../../ui/select.tsx";
import { focusOn } from "../../ui/shortcuts/shortcuts.ts";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { toast } from "../../ui/toasts.tsx";
import { QueryBox } from "../explorer/search/query-box.tsx";
import { number } from "../explorer/view/format.ts";
import { provideLanguage } from "../explorer/view/language.ts";
import * as languageParts from "../explorer/view/language-parts.ts";
import { timesOf } from "../explorer/view/range.ts";
import { readView } from "../explorer/view/view.ts";
import { visible } from "../explorer/view/visible.ts";
import { ruleQuery } from "./alert-query.ts";
import css from "./alerts.module.css";
import { ConditionFields } from "./condition-fields.tsx";
import { type Draft, draftOf, newDraft, readDeciding, readDraft } from "./draft.ts";
import { MutesField } from "./mutes-field.tsx";
import { NotificationFields } from "./notification-fields.tsx";
import { PreviewPanel } from "./preview-panel.tsx";
import { sampleOf } from "./sample.ts";

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
    <Editor
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
    <Editor
      workspaceId={workspaceId}
      projectId={projectId}
      alert={alert}
      draft={draft}
      lists={{ projects, destinations }}
    />
  );
}

interface Lists {
  projects: readonly Project[];
  destinations: readonly Destination[];
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

interface EditorProps {
  workspaceId: string;
  projectId: string;
  /** `null`: a new one. */
  alert: Alert | null;
  /** What the editor starts from. */
  draft: Draft;
  lists: Lists;
}

function Editor({
  workspaceId,
  projectId: ofAlert,
  alert,
  draft: start,
  lists: { projects, destinations },
}: EditorProps) {
  useTitle(alert === null ? "New alert" : "Edit alert");
  const { route } = useLocation();
  const [draft, setDraft] = useState(start);
  const [projectId, setProjectId] = useState(ofAlert);
  const [isChecked, setChecked] = useState(false);
  const [preview, setPreview] = useState<Preview | null>(null);
  const times = useMemo(() => timesOf({ kind: "last", preset: "7d" }, Date.now(), 30), []);
  const change = (members: Partial<Draft>): void => setDraft((before) => ({ ...before, ...members }));
  const saving = useAction(async () => {
    const read = readDraft(draft);
    if (!read.ok) return;
    const saved =
      alert === null
        ? await createAlert(workspaceId, projectId, read.definition)
        : await changeAlert(workspaceId, alert, read.definition);
    toast(alert === null ? `Created ${saved.name}.` : `Saved ${saved.name}.`);
    route(`/w/${workspaceId}/alerts/${saved.projectId}/${saved.id}`);
  });
  const role = workspaces.value?.find(({ id }) => id === workspaceId)?.role;
  const reason = role === undefined ? null : reasonAgainst(role, "alert.create");
  const read = readDraft(draft);
  const errors = isChecked && !read.ok ? read.errors : {};
  const refused = (member: string) => fieldError(saving.failure, member);
  const back = alert === null ? `/w/${workspaceId}/alerts` : `/w/${workspaceId}/alerts/${alert.projectId}/${alert.id}`;
  const queryError = errors.query ?? refused("query");
  return (
    <div class={css.editor}>
      <h1>{alert === null ? "New alert" : "Edit alert"}</h1>
      <div class={css.form}>
        <div>
          <p class={css.caption}>Query</p>
          <QueryBox
            label="Query"
            workspaceId={workspaceId}
            projectId={projectId}
            times={times}
            value={start.query}
            onSearch={(query) => change({ query })}
            onText={(query) => change({ query })}
          />
          {queryError === undefined ? (
            <p class={css.hint}>
              A filter, and at most one aggregation: <code>level:&gt;=error | count by service</code>,{" "}
              <code>* | stats p99(ms) by route</code>
            </p>
          ) : (
            <p class={css.wrong} role="alert">
              {queryError}
            </p>
          )}
        </div>
        <form
          class={css.form}
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            setChecked(true);
            const { currentTarget } = event;
            if (read.ok) void saving.run();
            // After the inputs have their errors.
            else requestAnimationFrame(() => focusWrong(currentTarget, read.errors.query !== undefined));
          }}
        >
          <ConditionFields
            draft={draft}
            errors={{
              ...errors,
              ...optional("value", errors.value ?? refused("condition.value")),
              ...optional("percent", errors.percent ?? refused("condition.percent")),
              ...optional("recovery", errors.recovery ?? refused("recovery")),
            }}
            onChange={change}
          />
          <div class={css.pair}>
            <Field label="Name" error={errors.name ?? refused("name")}>
              {(props) => (
                <input
                  {...props}
                  value={draft.name}
                  maxLength={100}
                  autocomplete="off"
                  onInput={({ currentTarget }) => change({ name: currentTarget.value })}
                />
              )}
            </Field>
            {alert === null ? (
              <Field label="Project">
                {(props) => (
                  <Select
                    {...props}
                    value={projectId}
                    options={projects.map(({ id, name }) => ({ value: id, label: visible(name) }))}
                    onChange={setProjectId}
                  />
                )}
              </Field>
            ) : null}
          </div>
          <NotificationFields
            workspaceId={workspaceId}
            draft={draft}
            errors={errors}
            destinations={destinations}
            sample={sampleOf(draft, preview)}
            isExample={preview?.decisions.every(({ kind }) => kind !== "firing") ?? true}
            messageError={refused("message")}
            onChange={change}
          />
          <MutesField mutes={draft.mutes} onChange={(mutes) => change({ mutes })} />
          <Problem failure={saving.failure} fields={SHOWN} />
          {alert !== null && decidesOtherwise(alert, draft) ? (
            <p class={css.hint}>Saving begins the count again, and resolves groups that fire.</p>
          ) : null}
          <p class={`${css.hint} ${css.outcome}`}>
            {preview?.firings === 1 ? "1 firing" : `${preview === null ? "–" : number(preview.firings)} firings`} in the{" "}
            <a href="#preview">last 7 days</a>.
          </p>
          {reason === null ? null : (
            <p class={css.hint} id="alert-role">
              {reason}
            </p>
          )}
          <Row>
            <Button
              type="submit"
              look="primary"
              busy={saving.busy}
              disabled={reason !== null}
              aria-describedby={reason === null ? undefined : "alert-role"}
            >
              {alert === null ? "Create" : "Save"}
            </Button>
            <a class={buttonClass("plain")} href={back}>
              Cancel
            </a>
          </Row>
        </form>
      </div>
      <div class={css.aside} id="preview">
        <PreviewPanel
          workspaceId={workspaceId}
          projectId={projectId}
          rule={readDeciding(draft)}
          onPreview={setPreview}
          onOwnTimes={() => change({ delay: "1m" })}
        />
      </div>
    </div>
  );
}

/** Focuses the first input with an error. The query is above the form. */
function focusWrong(form: HTMLFormElement, isQuery: boolean): void {
  if (isQuery) focusOn("search");
  else form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
}

/** Members whose errors are shown beside their inputs. */
const SHOWN = ["name", "query", "condition.value", "condition.percent", "recovery", "message"];

function optional<Name extends string>(name: Name, value: string | undefined): { [key in Name]?: string } {
  // SAFETY: one member of that name, or none.
  return (value === undefined ? {} : { [name]: value }) as { [key in Name]?: string };
}

/** Whether a draft changes what an alert decides from, so that it counts from the beginning. */
function decidesOtherwise({ query, condition, window, delay, recovery, for: forTime }: Alert, draft: Draft): boolean {
  const deciding = readDeciding(draft);
  const own = { query, condition, window, delay, for: forTime, recovery };
  return deciding !== null && JSON.stringify(sorted(own)) !== JSON.stringify(sorted(deciding));
}

function sorted({ condition, ...rest }: NonNullable<ReturnType<typeof readDeciding>>): unknown {
  const members = Object.entries(condition).filter(([name, value]) => name !== "direction" || value !== "above");
  return [Object.entries(rest).sort(), members.sort()];
}
