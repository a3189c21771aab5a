import type { Browser, BrowserContext } from "playwright-core";
import { asUser, call, createTenant, type Tenant } from "../../test/support/api.ts";

/** Entries of one request, the maximum of ingest. */
const BATCH = 1000;
const LEVELS = ["debug", "info", "info", "info", "warn", "error"];

/** A new account with a project of the given number of entries, and limits that are not reached. */
export async function seeded(url: string, count: number): Promise<Tenant> {
  const tenant = await createTenant(url);
  const { account, projectId, key } = tenant;
  const limits = { default: { limit: 1_000_000 }, rules: [] };
  const path = `/workspaces/${account.workspaceId}/rate-limits`;
  expectStatus(await call(url, path, { method: "PUT", ...asUser(account), body: limits }), 200);
  const start = Date.now() - count;
  for (let at = 0; at < count; at += BATCH) {
    const body = Array.from({ length: Math.min(BATCH, count - at) }, (_, index) => entry(at + index, start));
    expectStatus(await call(url, `/logger/${projectId}/log`, { token: key.secret, body }), 201);
  }
  return tenant;
}

function entry(index: number, start: number): object {
  return {
    level: LEVELS[index % LEVELS.length],
    category: "http",
    type: "request",
    message: `GET /v1/charges/${index} answered ${index % 7 === 0 ? 504 : 200} after ${index % 900} ms`,
    timestamp: new Date(start + index).toISOString(),
    traceId: `4bf92f3577b34da6a3ce${index.toString(16).padStart(12, "0")}`,
    data: {
      status: index % 7 === 0 ? 504 : 200,
      durationMs: index % 900,
      user: { id: `u_${index % 50}`, plan: "team" },
    },
  };
}

function expectStatus({ status, body }: { status: number; body: unknown }, expected: number): void {
  if (status !== expected) throw new Error(`answered ${status} instead of ${expected}: ${JSON.stringify(body)}`);
}

/** A browser with the account signed in; for what the console stores see web/src/session/storage.ts. */
export async function signedIn(browser: Browser, url: string, { account }: Tenant): Promise<BrowserContext> {
  const context = await browser.newContext({ baseURL: url, viewport: { width: 1440, height: 900 } });
  const { userId, email, refreshToken, accessToken } = account;
  await context.addInitScript(
    ({ session, access }) => {
      // The initial blank page has no storage.
      if (location.protocol === "about:") return;
      localStorage.setItem("taffrail.session", session);
      sessionStorage.setItem("taffrail.access", access);
    },
    {
      session: JSON.stringify({ id: "bench", refreshToken, user: { id: userId, email }, retryKey: null }),
      access: JSON.stringify({ token: accessToken, until: Date.now() + 14 * 60_000, session: "bench" }),
    },
  );
  return context;
}

export function logsOf({ account, projectId }: Tenant): string {
  return `/w/${account.workspaceId}/p/${projectId}?range=all`;
}
