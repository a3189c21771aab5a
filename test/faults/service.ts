import { setTimeout as wait } from "node:timers/promises";
import { type Answer, asUser, type CallOptions, call, createKey, createProject, register } from "../support/api.ts";
import { Project } from "./project.ts";
import type { FaultServer } from "./server.ts";

/** Milliseconds in which every request has to be answered or lost, whatever was done to the service. */
const ANSWER_MS = 30_000;
/** Milliseconds until a client tries again. */
const AGAIN_MS = 30;

/** A promise that the service has broken. */
export class Broken extends Error {}

export interface Account {
  workspaceId: string;
  token: string;
}

/** The service as its clients meet it: an answer may be lost, or be a refusal that asks for another try. */
export class Service {
  readonly server: FaultServer;
  /** Answers that asked for another try; requests whose answer was lost. */
  readonly figures = { unavailable: 0, lost: 0 };

  constructor(server: FaultServer) {
    this.server = server;
  }

  /** One request. Null where nobody knows what became of it. @throws Broken for an answer that is never right */
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

  /** A request that may be repeated, until it is answered. */
  async insist<Data>(path: string, options: CallOptions): Promise<Answer<Data>> {
    const giveUpAt = performance.now() + ANSWER_MS;
    while (performance.now() < giveUpAt) {
      const answer = await this.attempt<Data>(path, options);
      if (answer) return answer;
      await wait(AGAIN_MS);
    }
    throw new Broken(`${path} could not be had for ${ANSWER_MS / 1000} s.`);
  }

  /** The data of an answer that has to be a success. */
  async data<Data>(path: string, options: CallOptions): Promise<Data> {
    const { status, body } = await this.insist<Data>(path, options);
    if (status >= 400) throw new Broken(`${path} answered ${status}: ${JSON.stringify(body)}`);
    return body.data;
  }

  /** A workspace with some projects, in which no limit is in the way. */
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
