import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { enqueueNotification } from "../../../src/alerts/notifications/enqueue.ts";
import type { Notification } from "../../../src/alerts/notifications/notification.ts";
import type { NotificationContent } from "../../../src/alerts/notifications/request.ts";
import { newId } from "../../../src/ids.ts";
import { WorkspaceCore } from "../../../src/objects/workspace/core.ts";
import { newAlarmOrigin } from "../../../src/platform/origin.ts";
import { bearer, workspaceStub } from "../accounts/support.ts";
import { newProject } from "../projects/support.ts";
import { newUser } from "../workspaces/support.ts";

/** What a receiver got. */
export interface Got {
  url: string;
  id: string;
  type: string;
  headers: Record<string, string>;
}

export interface Setup {
  core: WorkspaceCore;
  /** A core of the same object after a restart, without the memory of the first one. */
  restarted: () => WorkspaceCore;
  storage: DurableObjectStorage;
  sql: SqlStorage;
  projectId: string;
  userId: string;
  /** Requests that left, in order. */
  got: Got[];
  /** Answers of the receivers by URL; 200 without one. */
  answers: Map<string, () => Response | Promise<Response>>;
  /** Adds a webhook and returns its id. */
  webhook: (url?: string) => string;
  /** Stores a notification of a rule for one or more destinations, and starts what is due. */
  notify: (more: Partial<Notification>, destinations: string[]) => void;
  /** Starts what is due at a time, and waits for the outcomes. */
  at: (now: number, core?: WorkspaceCore) => Promise<void>;
}

export const URL_A = "https://a.example.com/";
export const URL_B = "https://b.example.com/";

export const origin = newAlarmOrigin();

/** Runs a test in the object of a new workspace, with a core whose requests are answered by the test. */
export async function inWorkspace(run: (setup: Setup) => Promise<void>): Promise<void> {
  const { workspaceId, accessToken, userId } = await newUser();
  const headers = { ...bearer(accessToken), "X-Workspace-Id": workspaceId };
  const projectId = await newProject({ userId, workspaceId, headers });
  await runInDurableObject(workspaceStub(workspaceId), async (_, state) => {
    const { sql } = state.storage;
    const got: Got[] = [];
    const answers: Setup["answers"] = new Map();
    const outbound = async (url: string, init: RequestInit): Promise<Response> => {
      const sent = new Headers(init.headers);
      const { type = "" } = JSON.parse(String(init.body)) as { type?: string };
      got.push({ url, id: sent.get("webhook-id") ?? "", type, headers: Object.fromEntries(sent) });
      return (await answers.get(url)?.()) ?? new Response("ok");
    };
    const restarted = () => new WorkspaceCore(state, { ...env, OUTBOUND: { fetch: outbound } } as never);
    const core = restarted();
    const at: Setup["at"] = async (now, which = core) => {
      which.deliveries.start(now, origin);
      await which.deliveries.settled();
    };
    const webhook = (url = URL_A): string => {
      const id = newId("dest");
      sql.exec(
        `INSERT INTO destinations (id, kind, name, settings, secret, version, created_by, created_at, updated_at)
         VALUES (?1, 'webhook', ?1, ?2, 'whsec_c2VjcmV0', 1, 'usr', 0, 0)`,
        id,
        JSON.stringify({ url }),
      );
      return id;
    };
    const notify: Setup["notify"] = (more, destinationIds) => {
      core.state.transaction(() =>
        enqueueNotification(sql, { ...contentOf(projectId), ...more, destinationIds }, Date.now()),
      );
    };
    await run({ core, restarted, storage: state.storage, sql, projectId, userId, got, answers, webhook, notify, at });
    await state.storage.deleteAlarm();
  });
}

/** A firing notification of a rule of a project. */
export function contentOf(projectId: string): NotificationContent {
  const at = new Date().toISOString();
  return {
    id: crypto.randomUUID(),
    projectId,
    ruleId: "rule_1",
    ruleVersion: 1,
    kind: "firing",
    group: null,
    value: 1,
    window: { from: at, to: at },
    seqRange: null,
    title: "t",
    message: "m",
    labels: {},
    link: "",
    decidedAt: at,
  };
}

export interface DeliveryRow {
  state: string;
  next_at: number | null;
  attempts: number;
  answer: string | null;
}

/** Deliveries in order of their notifications. */
export function deliveries(sql: SqlStorage): DeliveryRow[] {
  return sql
    .exec<DeliveryRow & Record<string, SqlStorageValue>>(
      "SELECT state, next_at, attempts, answer FROM deliveries ORDER BY notification, destination",
    )
    .toArray();
}
