import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

/** How the receivers of the harness answer. */
export const RECEIVERS = ["ready", "slow", "failing"] as const;
export type ReceiverName = (typeof RECEIVERS)[number];

/** Milliseconds that the slow receiver takes. */
const SLOW_MS = 250;
/** Attempts of a notification that the failing receiver refuses. */
const REFUSED = 3;

/** Receivers of webhooks, which note what arrived. */
export class Receivers {
  /** Attempts by receiver and id of the notification, and the different bodies of `data` they had. */
  readonly arrived = new Map<ReceiverName, Map<string, { attempts: number; contents: Set<string> }>>();
  /** Requests whose id and body say different things. */
  readonly bad: string[] = [];
  readonly #server: Server;

  static async start(): Promise<Receivers> {
    const receivers = new Receivers();
    await new Promise<void>((resolve) => receivers.#server.listen(0, "127.0.0.1", resolve));
    return receivers;
  }

  private constructor() {
    for (const name of RECEIVERS) this.arrived.set(name, new Map());
    this.#server = createServer(async (request, response) => {
      let body = "";
      for await (const part of request.setEncoding("utf8")) body += part;
      const name = RECEIVERS.find((each) => request.url === `/${each}`) ?? "ready";
      const id = String(request.headers["webhook-id"]);
      const attempts = this.#note(name, id, body);
      if (name === "slow") await wait(SLOW_MS);
      const isRefused = name === "failing" && attempts <= REFUSED;
      response.writeHead(isRefused ? 503 : 200).end();
    });
  }

  urlOf(name: ReceiverName): string {
    // SAFETY: it listens on a TCP port.
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${name}`;
  }

  /** Forgets what has arrived. */
  forget(): void {
    for (const ids of this.arrived.values()) ids.clear();
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #note(name: ReceiverName, id: string, body: string): number {
    // SAFETY: a webhook of the service.
    const { data } = JSON.parse(body) as { data: { id: string } };
    if (data.id !== id) this.bad.push(`${id} has the body of ${data.id}`);
    const ids = this.arrived.get(name);
    const known = ids?.get(id) ?? { attempts: 0, contents: new Set() };
    known.attempts++;
    known.contents.add(JSON.stringify(data));
    ids?.set(id, known);
    return known.attempts;
  }
}
