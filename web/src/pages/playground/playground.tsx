import { FlaskConical, Send } from "lucide";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { clock, useNow } from "../../lib/now.ts";
import { guests } from "../../session/guest.ts";
import { Button } from "../../ui/button.tsx";
import { Copy } from "../../ui/copy.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Icon } from "../../ui/icon.tsx";
import { useTitle } from "../../ui/page.tsx";
import { Popover } from "../../ui/popover.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { useMedia } from "../../ui/use-media.ts";
import { ExplorerPage } from "../explorer/explorer-page.tsx";
import { useLanguageFor } from "../explorer/view/load-language.ts";
import { BudgetNotice } from "./budget-notice.tsx";
import { SandboxAccess } from "./guest-access.ts";
import { Meter } from "./meter.tsx";
import css from "./playground.module.css";
import { type Sandbox, type SandboxState, useSandbox } from "./sandbox.ts";
import { SendPanel } from "./send-panel.tsx";

/** Widths from which the panel has room beside the explorer, and from which it is open at first. */
const BESIDE = "(width >= 1200px)";
const OPEN_AT_FIRST = "(width >= 1500px)";

/** Tries the service without an account: the explorer on the sandbox, with a panel to send from. */
export function Playground() {
  const state = useSandbox();
  const { sandbox, failure, reload } = state;
  return (
    <div class={css.page}>
      {sandbox ? <PlaygroundContent state={state} sandbox={sandbox} /> : <PageTitle />}
      {!sandbox && failure ? <Failure failure={failure} onRetry={reload} /> : null}
      {!sandbox && !failure ? <Loading what="Opening the sandbox" /> : null}
    </div>
  );
}

function PageTitle() {
  useTitle("Playground");
  return null;
}

function PlaygroundContent({ state, sandbox }: { state: SandboxState; sandbox: Sandbox }) {
  const { url, path, route } = useLocation();
  const isBeside = useMedia(BESIDE);
  const [isOpen, setOpen] = useState(() => matchMedia(OPEN_AT_FIRST).matches);
  const access = useMemo(() => new SandboxAccess(state), []);
  // Before the explorer's first call, which is in an effect.
  guests.set(sandbox.workspaceId, access.call);
  useEffect(() => () => void guests.delete(sandbox.workspaceId), [sandbox.workspaceId]);
  // Without a choice of the visitor the explorer follows, so that what is sent appears.
  const isChosen = url.includes("?");
  useEffect(() => {
    if (!isChosen) route(`${path}?live=1`, true);
  }, []);
  // The explorer's own address may have no parameters, which is the default view.
  const hasOpened = useRef(false);
  hasOpened.current ||= isChosen;
  const hasLanguage = useLanguageFor(url);
  const panel = isOpen ? <SendPanel state={state} sandbox={sandbox} hasTitle={isBeside} /> : null;
  return (
    <>
      <Bar state={state} sandbox={sandbox} isOpen={isOpen} onToggle={() => setOpen(!isOpen)} />
      <BudgetNotice state={state.budgets.reads} what="reads" />
      <div class={css.work}>
        {/* A reset makes another project. */}
        {hasLanguage ? null : <Loading />}
        {hasLanguage && (isChosen || hasOpened.current) ? (
          <ExplorerPage key={sandbox.projectId} workspaceId={sandbox.workspaceId} projectId={sandbox.projectId} />
        ) : null}
        {panel !== null && isBeside ? (
          <aside class={css.panel} aria-label="Send entries">
            {panel}
          </aside>
        ) : null}
      </div>
      {panel !== null && !isBeside ? (
        <Dialog title="Send entries" shape="panel" onClose={() => setOpen(false)}>
          {panel}
        </Dialog>
      ) : null}
      <Title />
    </>
  );
}

/** After the explorer, whose title is that of its own page. */
function Title() {
  useTitle("Playground");
  return null;
}

interface BarProps {
  state: SandboxState;
  sandbox: Sandbox;
  isOpen: boolean;
  onToggle: () => void;
}

/** What the visitor may still do, until when, and the key. */
function Bar({ state: { budgets, renewedAt }, sandbox, isOpen, onToggle }: BarProps) {
  return (
    <div class={css.bar}>
      <span class={css.what}>
        <Icon shape={FlaskConical} />
        <b>Public sandbox</b>
        <span class={css.quiet}>Everyone can read what you send.</span>
      </span>
      {budgets.reads ? (
        <span class={css.left}>{`${budgets.reads.remaining} of ${budgets.reads.limit} searches left`}</span>
      ) : null}
      {budgets.entries ? (
        <span class={css.left}>{`${budgets.entries.remaining} of ${budgets.entries.limit} entries left`}</span>
      ) : null}
      <Reset at={sandbox.resetsAt} />
      <Popover label="Key and limits">
        {() => (
          <div class={css.details}>
            <Fact title="Key" text={sandbox.apiKey} />
            <Fact title="Project" text={sandbox.projectId} />
            {budgets.entries ? <Meter label="Entries to send this hour" state={budgets.entries} /> : null}
            {budgets.reads ? <Meter label="Reads this hour" state={budgets.reads} /> : null}
            <p class={css.quiet}>
              A search with its histogram, counts and further pages is one read. Next reset{" "}
              <Time at={sandbox.resetsAt} />.
            </p>
          </div>
        )}
      </Popover>
      <Button look="primary" icon={Send} aria-expanded={isOpen} onClick={onToggle}>
        Send entries
      </Button>
      <div class={css.announce} role="status">
        {renewedAt === null ? null : (
          <p>
            The sandbox was reset at <Time at={renewedAt} />. It has new entries and a new key, which this page already
            uses.
          </p>
        )}
      </div>
    </div>
  );
}

function Fact({ title, text }: { title: string; text: string }) {
  return (
    <div class={css.fact}>
      <span>{title}</span>
      <code>{text}</code>
      <Copy text={text} label={`Copy ${title.toLowerCase()}`} />
    </div>
  );
}

function Reset({ at }: { at: string }) {
  const left = Date.parse(at) - useNow();
  return <span class={`${css.left} ${css.digits}`}>{left > 0 ? `reset in ${clock(left)}` : "reset about now"}</span>;
}
