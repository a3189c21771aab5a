import { callEarly } from "../api/early-calls.ts";
import { listPagePath } from "../model/list-page.ts";
import { requestBody } from "../pages/explorer/filters.ts";
import { firstPage, listRequest, within } from "../pages/explorer/list-request.ts";
import { needsLanguage } from "../pages/explorer/view/language.ts";
import { timesOf } from "../pages/explorer/view/range.ts";
import { readView } from "../pages/explorer/view/view.ts";
import { readAccess, readSession } from "../session/storage.ts";
import { replaceRefusedStorage } from "./refused-storage.ts";

/**
 * Requests the explorer's first entries while the code of the console is loading, or without a project the list of projects.
 * Does nothing where the address and a stored access token are not enough for the request, which the console then makes itself.
 */
function requestFirstEntries(): void {
  const [, workspaceId, projectId = null] = /^\/w\/(\w+)(?:\/p\/(\w+))?$/.exec(location.pathname) ?? [];
  const session = readSession();
  const access = session && readAccess(session.id, Date.now());
  if (workspaceId === undefined || access === null || needsLanguage(location.search)) return;
  const { view } = readView(location.search);
  // A live view requests the start of its tail first.
  if (view.live) return;
  const account = { workspaceId, token: access.token };
  if (projectId === null) {
    // The console requests entries only if there is a project.
    callEarly(listPagePath("/projects", null), account);
    return;
  }
  // The retention decides only how far the chart reaches back.
  const times = timesOf(view.range, Date.now(), 0);
  const request = firstPage(listRequest(projectId, within({}, times), view.order));
  callEarly("/logger/query", { ...account, body: requestBody(request) });
}

/**
 * Makes the browser load its data of languages and time zones, which takes 15 ms, while the console's code is on its way.
 */
function loadLocales(): void {
  new Date().toLocaleString();
  (0).toLocaleString();
}

replaceRefusedStorage();
requestFirstEntries();
loadLocales();
