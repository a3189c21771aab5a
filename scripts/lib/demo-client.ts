import { z } from "zod";
import { StartFailure } from "./failure.ts";

const envelope = z.object({
  success: z.boolean(),
  data: z.unknown(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
});

/** A response whose envelope was checked. */
export interface DemoAnswer {
  status: number;
  data: unknown;
  code: string | null;
}

export interface DemoCall {
  method?: "GET" | "POST" | "DELETE";
  token?: string;
  workspaceId?: string;
  idempotencyKey?: string;
  body?: unknown;
}

/** Calls one server. A response without the envelope fails the demo. */
export class DemoClient {
  readonly #address: string;

  constructor(address: string) {
    this.#address = address;
  }

  async call(path: string, options: DemoCall = {}): Promise<DemoAnswer> {
    const { method = options.body === undefined ? "GET" : "POST", token, workspaceId, idempotencyKey, body } = options;
    const answer = await fetch(`${this.#address}${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...(token ? { Authorization: `Bearer ${token}` } : {}),
        ...(workspaceId ? { "X-Workspace-Id": workspaceId } : {}),
        ...(idempotencyKey ? { "Idempotency-Key": idempotencyKey } : {}),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch(() => {
      throw new StartFailure(`No response from ${this.#address}. Start the server first: npm start`);
    });
    const parsed = envelope.safeParse(await answer.json().catch(() => null));
    if (!parsed.success) throw new StartFailure(`${method} ${path} answered ${answer.status} without the envelope.`);
    return { status: answer.status, data: parsed.data.data, code: parsed.data.error?.code ?? null };
  }

  /** Sends a request that must succeed with this status, and returns its checked data. */
  async expect<S extends z.ZodType>(status: number, schema: S, path: string, options?: DemoCall): Promise<z.output<S>> {
    const answer = await this.call(path, options);
    if (answer.status !== status) {
      throw new StartFailure(`${path} answered ${answer.status} ${answer.code ?? ""}, expected ${status}.`);
    }
    const data = schema.safeParse(answer.data);
    if (data.success) return data.data;
    throw new StartFailure(`${path} returned an unexpected response: ${z.prettifyError(data.error)}`);
  }
}
