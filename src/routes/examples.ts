import { logId } from "../logs/entry-view.ts";

/** 32 bytes in base64url. */
const SECRET = "7Wd2Lr0nZkQpHs5uVy8xBc4eFg6iJm1oNq3tRw9aDhK";

/** Without `timestamp`: a fixed one would be past the retention some day. */
const ENTRIES = [
  {
    level: "error",
    category: "http",
    type: "response",
    message: "Payment gateway timed out",
    data: { status: 504, order: "A-17" },
  },
  { level: "info", message: "Cart restored", data: { items: 3 } },
];

const PROJECT = "proj_4fGh2Kq9RtXz";

/** Entries as an export writes them. Their hash is not the real one. */
const EXPORTED = [
  ...ENTRIES.map(({ data, ...entry }, index) => ({
    id: logId(PROJECT, index + 1),
    timestamp: "2026-11-20T14:04:05.678Z",
    category: "custom",
    type: "log",
    ...entry,
    data,
    seq: index + 1,
    projectId: PROJECT,
    receivedAt: "2026-11-20T14:04:06.012Z",
  })),
  {
    manifest: {
      projectId: PROJECT,
      format: "ndjson",
      from: null,
      to: null,
      afterSeq: 0,
      count: 2,
      firstSeq: 1,
      lastSeq: 2,
      through: 2,
      complete: true,
      unreadable: 0,
      until: 2,
      missing: 0,
      sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    },
  },
];

/**
 * Values of the examples in the API document. They are the same in every operation, so that examples can be executed one
 * after the other: the account that one registers is the account that another one signs in to.
 */
export const EXAMPLE = {
  email: "ada@example.com",
  password: "a long pass phrase",
  newPassword: "another long pass phrase",
  invitee: "grace@example.com",
  // Tokens in their form that no service has issued: executed, they are refused as unknown.
  token: `vt_${SECRET}`,
  invitationToken: `vt_8sTb3Nv6YcMe${SECRET}`,
  refreshToken: `rt_${SECRET}_${SECRET}`,
  /** Of a provider sign-in or link. */
  oneTimeCode: SECRET,
  codeVerifier: SECRET,
  destination: { kind: "webhook", name: "On call", url: "https://hooks.example.com/taffrail", canary: true } as const,
  entries: ENTRIES,
  ndjson: ENTRIES.map((entry) => `${JSON.stringify(entry)}\n`).join(""),
  exported: EXPORTED.map((line) => `${JSON.stringify(line)}\n`).join(""),
  /** Without an end, so that it finds new entries at any time. */
  query: { filters: { minLevel: "warn", from: "2026-11-01T00:00:00.000Z" }, pagination: { limit: 20 } },
  /** By day, because the longest retention has more hours than a response may have buckets. */
  stats: { filters: { minLevel: "info" }, interval: "1d", groupBy: "level" },
  search: { query: "level:>=warn | top 10 by category" },
  searchBatch: {
    queries: [{ query: "* | stats count() by level, bin(1h)" }, { query: "level:>=error | patterns 10" }],
  },
  parse: { query: "level:>=error route:/api/* | stats count(), p99(ms) by route, bin(5m)" },
  suggest: { query: "level:>=warn sta", position: 16 },
} as const;

const WORKSPACE = { description: "Id of the workspace; `GET /workspaces` lists them.", example: "ws_8sTb3Nv6YcMe" };

/** Required parameters by name. Optional ones have no example, because the reference would send it with every request. */
export const REQUIRED_PARAMETERS: Readonly<Record<string, { description: string; example: string }>> = {
  query: { description: "LogQL, or a selector.", example: '{service="shop"}' },
  label: { description: "Name of a label; `GET /loki/api/v1/labels` lists them.", example: "service" },
  field: { description: "Name of a field; `GET /loki/api/v1/detected_fields` lists them.", example: "status" },
  workspaceId: WORKSPACE,
  "X-Workspace-Id": { ...WORKSPACE, description: `The workspace to act in. ${WORKSPACE.description}` },
  projectId: {
    description: "Id of the project; `GET /projects` lists them, and `GET /sandbox` has that of the sandbox.",
    example: PROJECT,
  },
  keyId: {
    description: "Id of the API key; `GET /projects/{projectId}/keys` lists them.",
    example: "key_5mPw1Jx7LdUa",
  },
  userId: {
    description: "Id of the member; `GET /workspaces/{workspaceId}/members` lists them.",
    example: "usr_2hRk9Fz4QoCi",
  },
  sessionId: { description: "Id of the session; `GET /auth/sessions` lists them.", example: "fam_6gXn0Bt8WyEl" },
  invitationId: {
    description: "Id of the invitation; `GET /workspaces/{workspaceId}/invitations` lists them.",
    example: "inv_3jVq5Hs1ZrDu",
  },
  viewId: {
    description: "Id of the view; `GET /workspaces/{workspaceId}/views` lists them.",
    example: "view_4kWs6Jt2AsEv",
  },
  boardId: {
    description: "Id of the board; `GET /workspaces/{workspaceId}/boards` lists them.",
    example: "board_5lXt7Ku3BtFw",
  },
  alertId: {
    description: "Id of the alert; `GET /projects/{projectId}/alerts` lists them.",
    example: "alert_4kWs6Jt2AsEv",
  },
  grantId: {
    description: "Id of the grant; `GET /workspaces/{workspaceId}/grants` lists them.",
    example: "grant_3jVr5Hs1ZrDu",
  },
  destinationId: {
    description: "Id of the destination; `GET /workspaces/{workspaceId}/destinations` lists them.",
    example: "dest_6mYu8Lv4CuGx",
  },
  deliveryId: {
    description: "Id of the delivery; `GET /workspaces/{workspaceId}/notifications` lists them.",
    example: "dlv_7nZv9Mw5DvHy",
  },
  logId: { description: "`id` of an entry as a query returns it.", example: logId(PROJECT, 1) },
  token: { description: "The token of the mailed link.", example: EXAMPLE.token },
  index: { description: "Name of the index or data stream: any.", example: "logs" },
  group: { description: "What an agent sets up, such as `_index_template`.", example: "_index_template" },
  name: { description: "Its name.", example: "logs" },
  part: { description: "A part of it.", example: "settings" },
  key: {
    description: "An API key whose only scope is `logs:write`.",
    example: "sk_4fGh2Kq9RtXz5mPw1Jx7LdUa2hRk9Fz4QoCi6gXn0Bt8WyEl",
  },
  sentryProject: {
    description: "Digits, as Sentry's SDKs require them. They say nothing: the project is the key's.",
    example: "1",
  },
};
