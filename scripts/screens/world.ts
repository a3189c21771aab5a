import { type Account, asUser, call, createProject, type Key, register } from "../../test/support/api.ts";
import { type DemoEntry, demoEntries } from "../lib/demo-entries.ts";
import { createWorkspace, join, keyOf, mailedToken, ok, revokeKey, sendAll, verified } from "../lib/members.ts";

/** The content of the pictures, created through the API. */
export interface World {
  url: string;
  /** The owner of the workspaces. */
  ada: Account;
  /** A viewer. */
  viewer: Account;
  /** A user who has just registered. */
  newcomer: Account;
  workspaceId: string;
  projectId: string;
  /** A project without entries. */
  emptyProjectId: string;
  /** A workspace with a limit so low that the page soon reaches it. */
  limitedId: string;
  limitedProjectId: string;
  key: Key;
  /** Unused tokens of mails. */
  tokens: { verify: string; magic: string; reset: string; invitation: string };
}

const LONG_NAME = "Überseehafen-Schiffsausrüstungsgesellschaft-mit-beschränkter-Haftung";
const LONG_ADDRESS = "a-rather-long-name.with-dots.and-more@a-domain-name-that-is-long-as-well.example.com";
/** Number of the shop's entries, and the hours over which they are spread. */
const ENTRIES = 4000;
const HOURS = 22;

export async function makeWorld(url: string): Promise<World> {
  const [ada, grace, viewer, newcomer] = await Promise.all([
    verified(url, person("Ada")),
    verified(url, person("Grace")),
    verified(url, person("Linus")),
    register(url),
  ]);
  const workspaceId = await createWorkspace(url, ada, "Northwind Chandlery");
  await createWorkspace(url, ada, LONG_NAME);
  const limitedId = await createWorkspace(url, ada, "Harbour lights");
  const home = { ...ada, workspaceId };
  const projectId = await createProject(url, home, "shop");
  const mobile = await createProject(url, home, "mobile-app");
  const emptyProjectId = await createProject(url, home, LONG_NAME);
  const key = await keyOf(url, home, projectId, { name: "backend", scopes: ["logs:write", "logs:read"] });
  await keyOf(url, home, projectId, { name: "dashboard", scopes: ["logs:read"], expiresAt: inDays(90) });
  const old = await keyOf(url, home, projectId, { name: "the key of the year before", scopes: ["logs:write"] });
  await revokeKey(url, home, projectId, old);
  const phone = await keyOf(url, home, mobile, { name: "phones", scopes: ["logs:write"] });
  await Promise.all([join(url, home, grace, "admin"), join(url, home, viewer, "viewer")]);
  await ok(
    call(url, `/workspaces/${workspaceId}/members`, { ...asUser(home), body: { email: LONG_ADDRESS, role: "member" } }),
  );
  const invited = { ...asUser(home), body: { email: newcomer.email, role: "member" } };
  await ok(call(url, `/workspaces/${workspaceId}/members`, invited));

  await sendAll(url, projectId, key, shopEntries(Date.now()));
  await sendAll(url, mobile, phone, demoEntries(300, Date.now()));
  await limits(url, home, mobile);
  for (let i = 0; i < 9; i++)
    await call(url, `/logger/${mobile}/log`, { token: phone.secret, body: { message: "ping" } });

  const limited = { ...ada, workspaceId: limitedId };
  const limitedProjectId = await createProject(url, limited, "beacons");
  const tight = { method: "PUT", ...asUser(limited), body: { default: { limit: 1, windowSeconds: 3600 }, rules: [] } };
  await ok(call(url, `/workspaces/${limitedId}/rate-limits`, tight));
  await sessions(url, ada);
  return {
    ...{ url, ada, viewer, newcomer, workspaceId, projectId, emptyProjectId, limitedId, limitedProjectId, key },
    tokens: await mailedTokens(url, newcomer),
  };
}

/** A day of a shop with varying load, and at its end entries that are difficult to display. */
function shopEntries(now: number): object[] {
  const usual = demoEntries(ENTRIES, now).map((entry: DemoEntry, i) => {
    const part = i / ENTRIES;
    const wave = 0.95 * part + 0.035 * Math.sin(part * 40) + 0.01 * Math.sin(part * 173);
    const at = now - Math.max(0, 1 - wave) * HOURS * 3_600_000 - 60_000;
    return { ...entry, timestamp: new Date(Math.min(at, now)).toISOString() };
  });
  const recent = (seconds: number) => new Date(now - seconds * 1000).toISOString();
  return [
    ...usual,
    {
      timestamp: recent(9),
      level: "fatal",
      category: "system",
      type: "error",
      message:
        "TypeError: Cannot read properties of undefined (reading 'total')\n    at priceOf (cart.ts:41:17)\n    at checkout (checkout.ts:112:9)",
      data: { release: "4.2.1", commit: "9f0c2e6b7d1a4f6e8c3b5a7d9e1f2c4b6a8d0e2f", worker: 3 },
    },
    {
      timestamp: recent(7),
      level: "warn",
      category: "inventory",
      type: "stocktaking",
      message: `Unbroken: ${"0123456789abcdef".repeat(14)}`,
      session: "ses_with-a-name-that-is-long-0123456789",
      data: { words: "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" },
    },
    {
      timestamp: recent(4),
      level: "info",
      category: "ai",
      type: "tool-call",
      message: "Called tool search_products",
      traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
      spanId: "00f067aa0ba902b7",
      data: {
        tool: "search_products",
        args: { query: "brass compass", page: 1, filters: { inStock: true, price: { max: 80 } } },
        found: [
          { id: 104, name: "brass compass" },
          { id: 131, name: "brass compass, large" },
        ],
        tokens: { in: 412, out: 96 },
        cached: false,
        next: null,
      },
    },
  ];
}

function person(name: string): { email: string; password: string; name: string } {
  return { email: `${name.toLowerCase()}@northwind.example`, password: "a pass phrase of some length", name };
}

function inDays(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString();
}

/** A limit for each level of the cascade; one of them is reached immediately. */
async function limits(url: string, home: Account, mobile: string): Promise<void> {
  const rules = [
    { method: "POST", path: `/logger/${mobile}/log`, limit: 4, windowSeconds: 3600 },
    { method: "*", path: "/logger/query", limit: 300 },
  ];
  const body = { default: { limit: 600, windowSeconds: 60 }, rules };
  await ok(call(url, `/workspaces/${home.workspaceId}/rate-limits`, { ...asUser(home), method: "PUT", body }));
}

/** Other browsers of the same account. */
async function sessions(url: string, { email, password }: Account): Promise<void> {
  const agents = [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 19_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.1 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
  ];
  for (const agent of agents) {
    await ok(call(url, "/auth/login", { headers: { "User-Agent": agent }, body: { email, password } }));
  }
}

async function mailedTokens(url: string, { email }: Account): Promise<World["tokens"]> {
  await ok(call(url, "/auth/magic-link", { body: { email } }));
  await ok(call(url, "/auth/forgot-password", { body: { email } }));
  const [verify, magic, reset, invitation] = await Promise.all(
    ["verify-email", "magic-link", "reset-password", "invite"].map((kind) => mailedToken(url, email, kind)),
  );
  return { verify: verify ?? "", magic: magic ?? "", reset: reset ?? "", invitation: invitation ?? "" };
}
