import type { ComponentChildren, FunctionComponent } from "preact";
import { useEffect, useErrorBoundary, useMemo, useRef, useState } from "preact/hooks";
import { ErrorBoundary, LocationProvider, lazy, Route, Router, useLocation } from "preact-iso";
import { askToLeave, isHere } from "./lib/leaving.ts";
import { loadAfterOutage } from "./lib/needed-loads.ts";
import { Explorer } from "./pages/explorer/explorer.tsx";
import { NotFound } from "./pages/not-found.tsx";
import { SignedInOnly } from "./session/signed-in-only.tsx";
import { Button } from "./ui/button.tsx";
import { Page, Row } from "./ui/page.tsx";
import { Palette } from "./ui/palette/palette.tsx";
import { Shell } from "./ui/shell.tsx";
import { lastingToast, Toasts } from "./ui/toasts.tsx";
import { lazyModule, useLazy } from "./ui/use-lazy.ts";

/** Paths that are pages of the console. A link to any other path leaves the console. */
const PAGES = /^\/(?:$|\?|login|playground|w\/|auth\/|dev\/(?:ui|outbox)|docs(?:$|[?#]|\/[^?#]*\.md))/;

/** What the palette finds by name. */
const NAMED = lazyModule(() => import("./pages/named.ts"));
const TOOLTIPS = lazyModule(() => import("./ui/tooltips.tsx"));

const noticeOfOutage = () => lastingToast("The service could not be reached. The page opens as soon as it can.");

/** A page whose code is loaded when it is first opened. During an outage, it opens at its end. */
const page: typeof lazy = (load) => lazy(() => load().catch(() => loadAfterOutage(load, noticeOfOutage)));

const Home = page(() => import("./pages/home/home.tsx").then((module) => module.Home));
const Login = page(() => import("./pages/auth/login.tsx").then((module) => module.Login));
const SignUp = page(() => import("./pages/auth/sign-up.tsx").then((module) => module.SignUp));
const Forgot = page(() => import("./pages/auth/forgot.tsx").then((module) => module.Forgot));
const Verify = page(() => import("./pages/auth/verify.tsx").then((module) => module.Verify));
const Magic = page(() => import("./pages/auth/magic.tsx").then((module) => module.Magic));
const Reset = page(() => import("./pages/auth/reset.tsx").then((module) => module.Reset));
const Callback = page(() => import("./pages/auth/callback.tsx").then((module) => module.Callback));
const Invitation = page(() => import("./pages/auth/invitation.tsx").then((module) => module.Invitation));
const MailedAddress = page(() => import("./pages/auth/address.tsx").then((module) => module.MailedAddress));
const Playground = page(() => import("./pages/playground/playground.tsx").then((module) => module.Playground));
const Reference = page(() => import("./pages/docs/reference.tsx").then((module) => module.Reference));
const DocumentPage = page(() => import("./pages/docs/document-page.tsx").then((module) => module.DocumentPage));
const Outbox = page(() => import("./pages/dev/outbox.tsx").then((module) => module.Outbox));
const DevUi = page(() => import("./pages/dev/dev-ui.tsx").then((module) => module.DevUi));
const Account = guarded(page(() => import("./pages/account/account.tsx").then((module) => module.Account)));
const Review = guarded(page(() => import("./pages/account/review.tsx").then((module) => module.Review)));
const Consent = guarded(page(() => import("./pages/consent/consent.tsx").then((module) => module.Consent)));
const Boards = guarded(page(() => import("./pages/boards/boards.tsx").then((module) => module.Boards)));
const BoardPage = guarded(page(() => import("./pages/boards/board-page.tsx").then((module) => module.BoardPage)));
const Alerts = guarded(page(() => import("./pages/alerts/alerts.tsx").then((module) => module.Alerts)));
const AlertPage = guarded(page(() => import("./pages/alerts/alert-page.tsx").then((module) => module.AlertPage)));
const NewAlert = guarded(page(() => import("./pages/alerts/editor.tsx").then((module) => module.NewAlert)));
const RulesFilePage = guarded(
  page(() => import("./pages/alerts/file/file-page.tsx").then((module) => module.RulesFilePage)),
);
const EditAlert = guarded(page(() => import("./pages/alerts/editor.tsx").then((module) => module.EditAlert)));
/** In the first files, so that the explorer's first row waits for no further one. */
const ExplorerPage = guarded(Explorer);
const Patterns = guarded(
  page(() => import("./pages/investigate/patterns/patterns-page.tsx").then((module) => module.PatternsPage)),
);
const Trace = guarded(
  page(() => import("./pages/investigate/trace/trace-page.tsx").then((module) => module.TracePage)),
);
const Compare = guarded(
  page(() => import("./pages/investigate/compare/compare-page.tsx").then((module) => module.ComparePage)),
);
const Start = guarded(page(() => import("./pages/start/start.tsx").then((module) => module.Start)));
const Overview = guarded(page(() => import("./pages/overview/overview.tsx").then((module) => module.Overview)));
const Settings = guarded(page(() => import("./pages/settings/settings.tsx").then((module) => module.Settings)));

/** All routes of the console. `src/routes/site/console.ts` has the worker's list of the same paths. */
export function App() {
  const tooltips = useLazy(TOOLTIPS, true);
  return (
    <LocationProvider scope={PAGES}>
      <AskingFirst>
        <Shell>
          <Routes />
          {/* In the main landmark, as all text of a page. */}
          {tooltips === null ? null : <tooltips.Tooltips />}
        </Shell>
        <Palette named={NAMED} />
        <Toasts />
      </AskingFirst>
    </LocationProvider>
  );
}

/** Lets a page ask before a command leaves it. Links and the browser's history are asked for by the page. */
function AskingFirst({ children }: { children: ComponentChildren }) {
  const at = useLocation();
  const asking = useMemo<typeof at>(() => {
    const route: typeof at.route = (url, replace) => {
      if (isHere(url)) at.route(url, replace);
      else askToLeave(() => at.route(url, replace));
    };
    return { ...at, route };
  }, [at]);
  return <LocationProvider.ctx.Provider value={asking}>{children}</LocationProvider.ctx.Provider>;
}

function Routes() {
  const { path, url } = useLocation();
  const shownUrl = useRef(url);
  shownUrl.current = url;
  /** With the address at which a page threw an error: the same page may be able to show another query. */
  const [failed, setFailed] = useState<{ url: string } | null>(null);
  useErrorBoundary((error) => {
    setFailed({ url: shownUrl.current });
    reportError(error);
  });
  // Tries again on the way back. An error of the new address stays.
  useEffect(() => setFailed((before) => (before?.url === url ? before : null)), [url]);
  if (failed?.url === url) return <Failed />;
  // The router decodes the path and throws if that fails.
  if (!isDecodable(path)) return <NotFound />;
  return (
    <ErrorBoundary>
      <Router onRouteChange={focusPage} onLoadStart={() => markLoading(true)} onLoadEnd={() => markLoading(false)}>
        <Route path="/" component={Home} />
        <Route path="/login" component={Login} />
        <Route path="/auth/sign-up" component={SignUp} />
        <Route path="/auth/forgot" component={Forgot} />
        <Route path="/auth/verify" component={Verify} />
        <Route path="/auth/magic" component={Magic} />
        <Route path="/auth/reset" component={Reset} />
        <Route path="/auth/callback" component={Callback} />
        <Route path="/auth/invitation" component={Invitation} />
        <Route path="/auth/address" component={MailedAddress} />
        <Route path="/auth/account" component={Account} />
        <Route path="/auth/review" component={Review} />
        <Route path="/auth/consent" component={Consent} />
        <Route path="/playground" component={Playground} />
        <Route path="/docs" component={Reference} />
        <Route path="/docs/:document+" component={DocumentPage} />
        <Route path="/dev/outbox" component={Outbox} />
        <Route path="/dev/ui" component={DevUi} />
        <Route path="/w/ws_TaffrailDemo/:rest*" component={ToPlayground} />
        <Route path="/w/:workspaceId" component={ExplorerPage} />
        <Route path="/w/:workspaceId/p/:projectId" component={ExplorerPage} />
        <Route path="/w/:workspaceId/patterns" component={Patterns} />
        <Route path="/w/:workspaceId/p/:projectId/patterns" component={Patterns} />
        <Route path="/w/:workspaceId/compare" component={Compare} />
        <Route path="/w/:workspaceId/p/:projectId/compare" component={Compare} />
        <Route path="/w/:workspaceId/trace/:traceId" component={Trace} />
        <Route path="/w/:workspaceId/overview" component={Overview} />
        <Route path="/w/:workspaceId/start" component={Start} />
        <Route path="/w/:workspaceId/boards" component={Boards} />
        <Route path="/w/:workspaceId/boards/:boardId" component={BoardPage} />
        <Route path="/w/:workspaceId/alerts" component={Alerts} />
        <Route path="/w/:workspaceId/alerts/new" component={NewAlert} />
        <Route path="/w/:workspaceId/alerts/file" component={RulesFilePage} />
        <Route path="/w/:workspaceId/alerts/:projectId/:alertId" component={AlertPage} />
        <Route path="/w/:workspaceId/alerts/:projectId/:alertId/edit" component={EditAlert} />
        <Route path="/w/:workspaceId/settings/:section?" component={Settings} />
        <Route default component={NotFound} />
      </Router>
    </ErrorBoundary>
  );
}

/** In place of a page that threw an error. */
function Failed() {
  return (
    <Page title="This page failed" narrow>
      <p role="alert">It has a defect, or cannot read a response of the service.</p>
      <Row>
        <Button look="primary" onClick={() => location.reload()}>
          Reload
        </Button>
      </Row>
    </Page>
  );
}

/** Links to entries of the sandbox name its workspace, which only the playground shows. */
function ToPlayground() {
  const { route } = useLocation();
  useEffect(() => route(`/playground${location.search}`, true), []);
  return null;
}

function isDecodable(path: string): boolean {
  try {
    // The result is compared because the bundler removes a call whose result is unused.
    return decodeURIComponent(path) !== "";
  } catch {
    return false;
  }
}

/** Shows that another page is on its way: the one before stays until its code is there. */
function markLoading(isLoading: boolean): void {
  document.getElementById("main")?.toggleAttribute("data-loading", isLoading);
}

let shownPath = location.pathname;

/** Focuses the start of a new page, unless the page has focused one of its elements already. */
function focusPage(url: string): void {
  const path = url.replace(/[?#].*$/, "");
  if (path === shownPath) return;
  shownPath = path;
  const focused = document.activeElement;
  if (focused === null || focused === document.body || !document.getElementById("main")?.contains(focused)) {
    document.getElementById("main")?.focus({ preventScroll: true });
  }
}

function guarded(Page: FunctionComponent): FunctionComponent {
  return () => (
    <SignedInOnly>
      <Page />
    </SignedInOnly>
  );
}
