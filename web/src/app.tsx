import type { FunctionComponent } from "preact";
import { ErrorBoundary, LocationProvider, lazy, Route, Router, useLocation } from "preact-iso";
import { NotFound } from "./pages/not-found.tsx";
import { SignedInOnly } from "./session/signed-in-only.tsx";
import { Shell } from "./ui/shell.tsx";
import { Toasts } from "./ui/toasts.tsx";
import { Tooltips } from "./ui/tooltips.tsx";

/** Paths that are pages of the console. A link to any other path leaves the console. */
const PAGES = /^\/(?:$|\?|login|playground|w\/|auth\/|dev\/ui)/;

const Home = lazy(() => import("./pages/home/home.tsx").then((page) => page.Home));
const Login = lazy(() => import("./pages/auth/login.tsx").then((page) => page.Login));
const SignUp = lazy(() => import("./pages/auth/sign-up.tsx").then((page) => page.SignUp));
const Forgot = lazy(() => import("./pages/auth/forgot.tsx").then((page) => page.Forgot));
const Verify = lazy(() => import("./pages/auth/verify.tsx").then((page) => page.Verify));
const Magic = lazy(() => import("./pages/auth/magic.tsx").then((page) => page.Magic));
const Reset = lazy(() => import("./pages/auth/reset.tsx").then((page) => page.Reset));
const Callback = lazy(() => import("./pages/auth/callback.tsx").then((page) => page.Callback));
const Invitation = lazy(() => import("./pages/auth/invitation.tsx").then((page) => page.Invitation));
const Playground = lazy(() => import("./pages/playground/playground.tsx").then((page) => page.Playground));
const DevUi = lazy(() => import("./pages/dev/dev-ui.tsx").then((page) => page.DevUi));
const Account = guarded(lazy(() => import("./pages/account/account.tsx").then((page) => page.Account)));
const Review = guarded(lazy(() => import("./pages/account/review.tsx").then((page) => page.Review)));
const Boards = guarded(lazy(() => import("./pages/boards/boards.tsx").then((page) => page.Boards)));
const BoardPage = guarded(lazy(() => import("./pages/boards/board-page.tsx").then((page) => page.BoardPage)));
const Explorer = guarded(lazy(() => import("./pages/explorer/explorer.tsx").then((page) => page.Explorer)));
const Settings = guarded(lazy(() => import("./pages/settings/settings.tsx").then((page) => page.Settings)));

/** All routes of the console. `src/routes/site/console.ts` has the worker's list of the same paths. */
export function App() {
  return (
    <LocationProvider scope={PAGES}>
      <Shell>
        <Routes />
      </Shell>
      <Toasts />
      <Tooltips />
    </LocationProvider>
  );
}

function Routes() {
  const { path } = useLocation();
  // The router decodes the path and throws if that fails.
  if (!isDecodable(path)) return <NotFound />;
  return (
    <ErrorBoundary>
      <Router onRouteChange={focusPage}>
        <Route path="/" component={Home} />
        <Route path="/login" component={Login} />
        <Route path="/auth/sign-up" component={SignUp} />
        <Route path="/auth/forgot" component={Forgot} />
        <Route path="/auth/verify" component={Verify} />
        <Route path="/auth/magic" component={Magic} />
        <Route path="/auth/reset" component={Reset} />
        <Route path="/auth/callback" component={Callback} />
        <Route path="/auth/invitation" component={Invitation} />
        <Route path="/auth/account" component={Account} />
        <Route path="/auth/review" component={Review} />
        <Route path="/playground" component={Playground} />
        <Route path="/dev/ui" component={DevUi} />
        <Route path="/w/:workspaceId" component={Explorer} />
        <Route path="/w/:workspaceId/p/:projectId" component={Explorer} />
        <Route path="/w/:workspaceId/boards" component={Boards} />
        <Route path="/w/:workspaceId/boards/:boardId" component={BoardPage} />
        <Route path="/w/:workspaceId/settings/:section?" component={Settings} />
        <Route default component={NotFound} />
      </Router>
    </ErrorBoundary>
  );
}

function isDecodable(path: string): boolean {
  try {
    // The result is compared because the bundler removes a call whose result is unused.
    return decodeURIComponent(path) !== "";
  } catch {
    return false;
  }
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
