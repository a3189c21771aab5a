import { Client } from "undici";
import { bodyOf } from "../entries.ts";
import { type DoorBody, type DoorFormat, doorBody } from "./door-bodies.ts";

/** Bodies created in advance for each size of batch; connections use them in turn. 1,000 entries are 330 KB, 20,000 are 6.6 MB. */
const BODIES: Readonly<Record<number, number>> = { 1: 4000, 50: 400, 1000: 64, 20000: 4 };

const bodies = new Map<number, readonly Buffer[]>();

/** Bodies of `batch` entries. Created once, because creating them during the measurement would use the server's CPU. */
export function preparedBodies(batch: number): readonly Buffer[] {
  const known = bodies.get(batch);
  if (known) return known;
  const count = BODIES[batch] ?? Math.max(1, Math.ceil(60_000 / batch));
  const made = Array.from({ length: count }, (_, at) => bodyOf(batch, at * batch));
  bodies.set(batch, made);
  return made;
}

const doorBodies = new Map<string, readonly DoorBody[]>();

/** Bodies of `batch` entries in the protocol of another client. */
export function preparedDoorBodies(format: DoorFormat, batch: number): readonly DoorBody[] {
  const known = doorBodies.get(`${format} ${batch}`);
  if (known) return known;
  const count = BODIES[batch] ?? Math.max(1, Math.ceil(60_000 / batch));
  const made = Array.from({ length: count }, (_, at) => doorBody(format, batch, at * batch));
  doorBodies.set(`${format} ${batch}`, made);
  return made;
}

export interface Sending {
  path: string;
  headers: Record<string, string>;
  body: Buffer | null;
  expectedStatus: number;
}

/** Sends one request. @returns `null` for the expected response, otherwise the actual one */
export async function send(client: Client, { path, headers, body, expectedStatus }: Sending): Promise<string | null> {
  try {
    const answer = await client.request({ path, method: body === null ? "GET" : "POST", headers, body });
    if (answer.statusCode === expectedStatus) {
      await answer.body.dump();
      return null;
    }
    return `${answer.statusCode} ${(await answer.body.text()).slice(0, 300)}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export function connect(origin: string, connections: number): Client[] {
  return Array.from({ length: connections }, () => new Client(origin, { pipelining: 1 }));
}

export async function disconnect(clients: readonly Client[]): Promise<void> {
  await Promise.all(clients.map((client) => client.close()));
}
