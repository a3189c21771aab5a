import { randomUUID } from "node:crypto";

/** A response of the API: status, headers and envelope. */
export interface Answer<Data = unknown> {
  status: number;
  headers: Headers;
  body: Envelope<Data>;
}

/** The expected shape of a body. A test that reads a member of another shape, or of none, fails. */
export interface Envelope<Data> {
  success: boolean;
  data: Data;
  error: { code: string; message: string; details?: { path: string; code: string; message: string }[] };
  meta: { timestamp: string; requestId: string };
}

export interface CallOptions {
  method?: string;
  /** Access token or API key. */
  token?: string;
  workspaceId?: string;
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a string or bytes are sent unchanged. */
  body?: unknown;
}

/**
 * Sends one request to the API; POST if there is a body. Refusals are returned, not thrown. `Data` is the expected type
 * of a success.
 */
export async function call<Data = unknown>(
  url: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer<Data>> {
  const { body, token, workspaceId } = options;
  const raw = typeof body === "string" || body instanceof Uint8Array;
  const response = await fetch(`${url}${path}`, {
    method: options.method ?? (body === undefined ? "GET" : "POST"),
    redirect: "manual",
    headers: {
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...(token ? { Authorization: `Bearer ${token}` } : {}),
      ...(workspaceId ? { "X-Workspace-Id": workspaceId } : {}),
      ...options.headers,
    },
    // SAFETY: `raw` is true, so it is a string or bytes.
    ...(body === undefined ? {} : { body: raw ? (body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(body) }),
  });
  const text = await response.text();
  // SAFETY: see `Envelope`.
  const read = (text === "" ? null : parsed(text)) as Envelope<Data>;
  return { status: response.status, headers: response.headers, body: read };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A list, as paged routes return it. */
export interface Page<Row> {
  items: Row[];
  nextCursor: string | null;
}

/** The result of a query, with the members of entries that tests read. */
export interface FoundLogs {
  logs: { id: string; seq: number; message: string }[];
  pagination: { nextCursor: string | null };
  complete: boolean;
}

/** The response of every kind of sign-in. */
export interface SignedIn {
  user: { id: string; email: string; name?: string };
  accessToken: string;
  refreshToken: string;
  personalWorkspace: { id: string; slug: string };
  isNewUser?: boolean;
}

export interface Account {
  userId: string;
  email: string;
  password: string;
  accessToken: string;
  refreshToken: string;
  workspaceId: string;
}

/** Creates an account with its personal workspace. */
export async function register(url: string): Promise<Account> {
  const email = `${randomUUID()}@example.com`;
  const password = `pass-${randomUUID()}`;
  const { user, accessToken, refreshToken, personalWorkspace } = await created<SignedIn>(url, "/auth/register", {
    body: { email, password },
  });
  return { userId: user.id, email, password, accessToken, refreshToken, workspaceId: personalWorkspace.id };
}

/** Creates a project and returns its id. */
export async function createProject(url: string, account: Account, name = "test"): Promise<string> {
  const project = await created<{ id: string }>(url, "/projects", { ...asUser(account), body: { name } });
  return project.id;
}

export interface Key {
  id: string;
  secret: string;
}

/** Creates a key of a project, by default with both scopes. */
export async function createKey(
  url: string,
  account: Account,
  projectId: string,
  scopes: readonly string[] = ["logs:write", "logs:read"],
): Promise<Key> {
  return created(url, `/projects/${projectId}/keys`, { ...asUser(account), body: { name: "test", scopes } });
}

export interface Tenant {
  account: Account;
  projectId: string;
  key: Key;
}

/** What sending logs requires: an account, a project and a key. */
export async function createTenant(url: string): Promise<Tenant> {
  const account = await register(url);
  const projectId = await createProject(url, account);
  return { account, projectId, key: await createKey(url, account, projectId) };
}

/** Another project of a tenant's account, for a test that adds entries. */
export async function anotherProject(url: string, { account }: Tenant): Promise<Tenant> {
  const projectId = await createProject(url, account, `project ${crypto.randomUUID()}`);
  return { account, projectId, key: await createKey(url, account, projectId) };
}

/** Options of a call as an account in its personal workspace. */
export function asUser(account: Account): { token: string; workspaceId: string } {
  return { token: account.accessToken, workspaceId: account.workspaceId };
}

async function created<Data>(url: string, path: string, options: CallOptions): Promise<Data> {
  const answer = await call<Data>(url, path, options);
  if (answer.status !== 201) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body.data;
}
