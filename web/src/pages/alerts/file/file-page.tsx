import { Download, FileUp, ListRestart } from "lucide";
import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { RulesFailure, RulesFile, type RulesProblem } from "../../../../../sdk/src/cli/alerts/rules-file.ts";
import { rulesText } from "../../../../../sdk/src/cli/alerts/rules-text.ts";
import { failureOf } from "../../../api/failure.ts";
import { useAction } from "../../../lib/action.ts";
import { useLoad } from "../../../lib/load.ts";
import { visible } from "../../../lib/visible.ts";
import { loadRules, type Plan } from "../../../model/alerts.ts";
import { reasonAgainst } from "../../../model/roles.ts";
import { knownWorkspace, loadProjects } from "../../../model/workspaces.ts";
import { Button } from "../../../ui/button.tsx";
import { ChangesGuard } from "../../../ui/changes-guard.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { Card, Page, Row } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { saveFile } from "../../../ui/save-file.ts";
import { Select } from "../../../ui/select.tsx";
import { Empty, Failure, Loading } from "../../../ui/states.tsx";
import { toast } from "../../../ui/toasts.tsx";
import alertsCss from "../alerts.module.css";
import css from "./file.module.css";
import { type Asked, destinationsOf, type ProjectText, planOrApply, type Shown } from "./plan-or-apply.ts";
import { RulesEditor } from "./rules-editor.tsx";
import { planText, ShownPlan } from "./shown-plan.tsx";

const TITLE = "Rules as a file";
/** Name of the exported file, and of a pasted one. */
const FILE = "rules.yaml";
/** Bytes beyond which a file is not read. */
const MAX_BYTES = 1024 * 1024;

/** Rules that were loaded, or read from a file. */
interface Offered extends ProjectText {
  isFile: boolean;
}

/** The rules of a project as the file that `taffrail alerts` reads: exported, compared and applied. The address has the project. */
export function RulesFilePage() {
  const { workspaceId = "" } = useRoute().params;
  const { query } = useLocation();
  const { data, failure, reload } = useLoad(workspaceId, (signal) => loadProjects(workspaceId, signal));
  if (data === null) {
    return <Page title={TITLE}>{failure === null ? <Loading /> : <Failure failure={failure} onRetry={reload} />}</Page>;
  }
  const [first] = data;
  const project = data.find(({ id }) => id === query.project) ?? first;
  if (project === undefined) {
    return (
      <Page title={TITLE}>
        <Empty title="No projects">
          <p>A file has the rules of a project. Create one first.</p>
          <a href={`/w/${workspaceId}/settings/projects`}>Projects</a>
        </Empty>
      </Page>
    );
  }
  return (
    <RulesFileOf
      workspaceId={workspaceId}
      projectId={project.id}
      projects={data.map(({ id, name }) => ({ value: id, label: visible(name) }))}
    />
  );
}

interface RulesFileOfProps {
  workspaceId: string;
  projectId: string;
  projects: readonly { value: string; label: string }[];
}

function RulesFileOf({ workspaceId, projectId, projects }: RulesFileOfProps) {
  const { path, route } = useLocation();
  const [text, setText] = useState("");
  /** The text, if it was written here: nothing else has it. */
  const [written, setWritten] = useState("");
  const [prune, setPrune] = useState(false);
  const [wrong, setWrong] = useState<{ asked: Asked; problems: readonly RulesProblem[] } | null>(null);
  /** The text that the project has: the last one that was applied, or compared without a difference. */
  const [saved, setSaved] = useState<ProjectText | null>(null);
  /** Rules that were loaded or read while the editor has other text. */
  const [offered, setOffered] = useState<Offered | null>(null);
  const [shown, setShown] = useState<Shown | null>(null);
  const picker = useRef<HTMLInputElement>(null);
  const role = knownWorkspace(workspaceId)?.role;
  const reason = role === undefined ? null : reasonAgainst(role, "alert.create");
  /** What the page shows when a request ends. */
  const latest = useRef({ projectId, text });
  latest.current = { projectId, text };
  const isLatest = (other: ProjectText | null): boolean =>
    latest.current.projectId === other?.projectId && latest.current.text === other.text;
  /** @param applied the difference that is applied; `null` to compare */
  const ask = async (asked: Asked, applied: Plan | null): Promise<void> => {
    setWrong(null);
    if (applied === null) setShown(null);
    try {
      const file = new RulesFile(FILE, asked.text);
      const destinations = await destinationsOf(workspaceId, asked.projectId);
      const { rules, unknown } = file.withIds(destinations);
      try {
        const done = await planOrApply(workspaceId, { ...asked, rules }, unknown, applied);
        setShown({ ...asked, ...done, destinations });
        if (done.isApplied || done.plan.changes.length === 0) setSaved(asked);
        if (done.isApplied && !isLatest(asked)) toast("Rules applied as they were compared.");
      } catch (error) {
        throw file.failureOf(failureOf(error).details, [], unknown) ?? error;
      }
    } catch (error) {
      if (!(error instanceof RulesFailure)) throw error;
      setWrong({ asked, problems: error.problems });
    }
  };
  const comparing = useAction((asked: Asked) => ask(asked, null));
  const applying = useAction(({ plan, ...asked }: Shown) => ask(asked, plan));
  const loading = useAction(async (isSaved: boolean) => {
    const [rules, destinations] = await Promise.all([
      loadRules(workspaceId, projectId),
      destinationsOf(workspaceId, projectId),
    ]);
    const current = rulesText(rules, destinations);
    if (isSaved) return saveFile(FILE, "application/yaml", current);
    // The rules of a project that was left are of no use in the next one.
    if (latest.current.projectId !== projectId) return;
    await offer({ projectId, text: current, isFile: false });
  });
  const replace = async ({ isFile, ...next }: Offered): Promise<void> => {
    setText(next.text);
    setOffered(null);
    if (isFile) await comparing.run({ ...next, prune });
  };
  /** Asks before other text is replaced. */
  const offer = async (next: Offered): Promise<void> => {
    const { text: present } = latest.current;
    if (present.trim() === "" || present === next.text) await replace(next);
    else setOffered(next);
  };
  const reading = useAction(async (file: File) => {
    if (file.size > MAX_BYTES) throw new Error(`${file.name} is larger than 1 MiB.`);
    const read = await file.text();
    await offer({ projectId: latest.current.projectId, text: read, isFile: true });
  });
  const isShown =
    shown !== null && shown.projectId === projectId && shown.text === text && shown.prune === prune ? shown : null;
  const problems =
    wrong !== null && wrong.asked.projectId === projectId && wrong.asked.text === text ? wrong.problems : [];
  const status = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    // The button that was pressed may be removed.
    if ((shown?.isApplied || shown?.isNewer) && document.activeElement === document.body) status.current?.focus();
  }, [shown]);
  return (
    <Page title={TITLE}>
      <p class={css.intro}>
        The YAML file that <code>taffrail alerts apply</code> reads. Names identify rules.{" "}
        <a href={`/w/${workspaceId}/alerts?${new URLSearchParams({ project: projectId })}`}>Alerts of the project</a>
      </p>
      <div class={alertsCss.bar}>
        <Select
          label="Project"
          value={projectId}
          options={projects}
          onChange={(id) => route(`${path}?${new URLSearchParams({ project: id })}`, true)}
        />
        <Button icon={Download} busy={loading.busy} onClick={() => void loading.run(true)}>
          Export
        </Button>
        <Button icon={ListRestart} busy={loading.busy} onClick={() => void loading.run(false)}>
          Load current rules
        </Button>
        <Button icon={FileUp} busy={reading.busy} onClick={() => picker.current?.click()}>
          Choose file
        </Button>
        <input
          ref={picker}
          type="file"
          hidden
          aria-label="File of rules"
          accept=".yaml,.yml,.json,application/yaml,application/json,text/plain"
          onChange={({ currentTarget }) => {
            const file = currentTarget.files?.[0];
            if (file !== undefined) void reading.run(file);
            // The same file can be chosen again after a change.
            currentTarget.value = "";
          }}
        />
      </div>
      <Problem failure={loading.failure ?? reading.failure} />
      <RulesEditor
        text={text}
        onText={(next) => {
          setText(next);
          setWritten(next);
        }}
        onFile={(file) => void reading.run(file)}
        problems={problems}
      />
      {text !== written || text.trim() === "" || isLatest(saved) ? null : <ChangesGuard what="the rules" />}
      <label class={css.prune}>
        <input type="checkbox" checked={prune} onChange={({ currentTarget }) => setPrune(currentTarget.checked)} />
        Delete alerts that are not in the file
      </label>
      <Row>
        <Button
          look={isShown === null ? "primary" : "plain"}
          busy={comparing.busy}
          disabled={applying.busy || text.trim() === ""}
          onClick={() => void comparing.run({ projectId, text, prune })}
        >
          Compare
        </Button>
        {isShown === null || isShown.isApplied || isShown.plan.changes.length === 0 || reason !== null ? null : (
          <Button
            look="primary"
            // A disabled button would lose the focus. A press during the request does nothing.
            aria-disabled={applying.busy}
            disabled={comparing.busy}
            onClick={() => void applying.run(isShown)}
          >
            Apply
          </Button>
        )}
      </Row>
      {reason === null ? null : <p class={css.intro}>{reason}</p>}
      <Problem failure={comparing.failure ?? applying.failure} />
      {isShown === null ? null : (
        <Card title={isShown.isApplied ? "Applied" : "Difference"}>
          {isShown.isNewer ? (
            <p role="alert">The rules changed after the comparison. Nothing was applied: this is the new difference.</p>
          ) : null}
          <p ref={status} role="status" tabIndex={-1}>
            {planText(isShown.plan, isShown.isApplied)}
          </p>
          <ShownPlan {...isShown} />
        </Card>
      )}
      {offered?.projectId === projectId ? (
        <Confirm
          title="Replace the text?"
          action="Replace"
          onConfirm={() => replace(offered)}
          onClose={() => setOffered(null)}
        >
          <p>
            {offered.isFile ? "The file replaces" : "The current rules of the project replace"} the text in the editor.
          </p>
        </Confirm>
      ) : null}
    </Page>
  );
}
