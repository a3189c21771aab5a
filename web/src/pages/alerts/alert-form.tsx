import { useMemo, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { fieldError, useAction } from "../../lib/action.ts";
import { leaveFreely } from "../../lib/leaving.ts";
import { visible } from "../../lib/visible.ts";
import { type Alert, changeAlert, createAlert, type Preview } from "../../model/alerts.ts";
import { reasonAgainst } from "../../model/roles.ts";
import type { Destination, Project } from "../../model/types.ts";
import { knownWorkspace } from "../../model/workspaces.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { ChangesGuard } from "../../ui/changes-guard.tsx";
import { Field } from "../../ui/field.tsx";
import { Row, useTitle } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Select } from "../../ui/select.tsx";
import { focusOn } from "../../ui/shortcuts/shortcuts.ts";
import { toast } from "../../ui/toasts.tsx";
import { QueryBox } from "../explorer/search/query-box.tsx";
import { number } from "../explorer/view/format.ts";
import { timesOf } from "../explorer/view/range.ts";
import css from "./alert-form.module.css";
import alertsCss from "./alerts.module.css";
import { ConditionFields } from "./condition-fields.tsx";
import { type Draft, readDeciding, readDraft } from "./draft.ts";
import { isBegun, MutesField, NO_MUTE } from "./mutes-field.tsx";
import { NotificationFields } from "./notification-fields.tsx";
import { PreviewPanel } from "./preview-panel.tsx";
import { sampleOf } from "./sample.ts";

interface AlertFormProps {
  workspaceId: string;
  projectId: string;
  /** `null`: a new one. */
  alert: Alert | null;
  /** What the editor starts from. */
  draft: Draft;
  /** What the form offers to choose from. */
  lists: { projects: readonly Project[]; destinations: readonly Destination[] };
}

/** The form of an alert, and beside it what the alert would have done. */
export function AlertForm({
  workspaceId,
  projectId: ofAlert,
  alert,
  draft: ofStart,
  lists: { projects, destinations },
}: AlertFormProps) {
  useTitle(alert === null ? "New alert" : "Edit alert");
  const { route } = useLocation();
  const [start] = useState(ofStart);
  const [draft, setDraft] = useState(start);
  const [projectId, setProjectId] = useState(ofAlert);
  const [begunMute, setBegunMute] = useState(NO_MUTE);
  const hasBegunMute = isBegun(begunMute, draft.mutes);
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
    leaveFreely(() => route(`/w/${workspaceId}/alerts/${saved.projectId}/${saved.id}`));
  });
  const role = knownWorkspace(workspaceId)?.role;
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
          <p class={alertsCss.caption}>Query</p>
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
            <p class={alertsCss.hint}>
              A filter, and at most one aggregation: <code>level:&gt;=error | count by service</code>,{" "}
              <code>* | stats p99(ms) by route</code>
            </p>
          ) : (
            <p class={alertsCss.wrong} role="alert">
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
            if (read.ok && !hasBegunMute) void saving.run();
            // After the inputs have their errors.
            else requestAnimationFrame(() => focusWrong(currentTarget, !read.ok && read.errors.query !== undefined));
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
          <MutesField
            mutes={draft.mutes}
            onChange={(mutes) => change({ mutes })}
            begun={begunMute}
            onBegun={setBegunMute}
            error={isChecked && hasBegunMute ? "Add this mute, or uncheck its days." : undefined}
          />
          <Problem failure={saving.failure} fields={SHOWN} />
          {alert !== null && decidesOtherwise(alert, draft) ? (
            <p class={alertsCss.hint}>Saving begins the count again, and resolves groups that fire.</p>
          ) : null}
          <p class={`${alertsCss.hint} ${css.outcome}`}>
            {preview?.firings === 1 ? "1 firing" : `${preview === null ? "–" : number(preview.firings)} firings`} in the{" "}
            <a href="#preview">last 7 days</a>.
          </p>
          {reason === null ? null : (
            <p class={alertsCss.hint} id="alert-role">
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
      {JSON.stringify(draft) === JSON.stringify(start) && projectId === ofAlert && !hasBegunMute ? null : (
        <ChangesGuard what="the alert" />
      )}
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
