import { setTimeout as wait } from "node:timers/promises";
import { type Answer, asUser, type CallOptions, call, createKey, createProject, register } from "../support/api.ts";
import { Project } from "./project.ts";
import type { FaultServer } from "./server.ts";

/** Milliseconds in which every request must get a response or lose its connection, whatever faults are caused. */
const ANSWER_MS = 30_000;
/** Milliseconds until a client retries. */
const AGAIN_MS = 30;

/** A guarantee that the service has broken. */
export class Broken extends Error {}

export interface Account {
  workspaceId: string;
  token: string;
}

/** The service as its clients use it: a response may be lost, or may ask for a retry. */
export class Service {
  readonly server: FaultServer;
  /** Number of responses that asked for a retry, and of requests whose response was lost. */
  readonly figures = { unavailable: 0, lost: 0 };

  constructor(server: FaultServer) {
    this.server = server;
  }

  /** Sends one request. Returns `null` if its outcome is unknown. @throws Broken for a response that is never right */
  async attempt<Data>(path: string, options: CallOptions): Promise<Answer<Data> | null> {
    while (!this.server.isServing) await wait(AGAIN_MS);
    const late = new AbortController();
    const timeout = wait(ANSWER_MS, "late" as const, { signal: late.signal, ref: false }).catch(() => "late" as const);
    const lost = () => null;
    const answer = await Promise.race([call<Data>(this.server.url, path, options).catch(lost), timeout]);
    late.abort();
    if (answer === "late") throw new Broken(`${path} was not answered within ${ANSWER_MS / 1000} s.`);
    if (answer === null) {
      this.figures.lost++;
      return null;
    }
    if (answer.status === 503) {
      this.figures.unavailable++;
      return null;
    }
    if (answer.status >= 500) throw new Broken(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer;
  }

  /** Repeats a request until it gets a response. Only for requests that may be repeated. */
  async insist<Data>(path: string, options: CallOptions): Promise<Answer<Data>> {
    const giveUpAt = performance.now() + ANSWER_MS;
    while (performance.now() < giveUpAt) {
      const answer = await this.attempt<Data>(path, options);
      if (answer) return answer;
      await wait(AGAIN_MS);
    }
    throw new Broken(`${path} could not be had for ${ANSWER_MS / 1000} s.`);
  }

  /** The data of a response that must be a success. */
  async data<Data>(path: string, options: CallOptions): Promise<Data> {
    const { status, body } = await this.insist<Data>(path, options);
    if (status >= 400) throw new Broken(`${path} answered ${status}: ${JSON.stringify(body)}`);
    return body.data;
  }

  /** Creates a workspace with projects and limits that the round does not reach. */
  async tenant<Name extends string>(names: readonly Name[]): Promise<Account & { projects: Record<Name, Project> }> {
    const { url } = this.server;
    const account = await register(url);
    const projects = await Promise.all(
      names.map(async (name): Promise<[Name, Project]> => {
        const projectId = await createProject(url, account, name);
        return [name, new Project(name, projectId, await createKey(url, account, projectId))];
      }),
    );
    const { workspaceId, token } = asUser(account);
    const limits = { default: { limit: 1_000_000, windowSeconds: 60 } };
    await this.data(`/workspaces/${workspaceId}/rate-limits`, { token, workspaceId, method: "PUT", body: limits });
    // SAFETY: there is a pair for each name.
    return { workspaceId, token, projects: Object.fromEntries(projects) as Record<Name, Project> };
  }
}
