import type { Answer } from "../support/api.ts";
import { altered, makeBatch, type Receipt, type SentBatch } from "./batch.ts";
import type { Project } from "./project.ts";
import type { Random } from "./random.ts";
import type { Service } from "./service.ts";
import type { World } from "./world.ts";

/** The outcome of a request to store a batch, as its sender sees it. */
type Fate = "stored" | "unknown" | "gone";

/** The batch of the first writer of each project that is staged for certain. */
const STAGED_AT = 3;
/** Maximum milliseconds between two batches of a writer. */
const REST_MS = 50;

/** Sends batches to one project, most of them new, until the round is over or the project is deleted. */
export async function write(world: World, project: Project, name: string): Promise<void> {
  const { service, course } = world;
  const random = world.random.fork(name);
  const own: SentBatch[] = [];
  while (!course.isOver) {
    const old = own.length > 0 ? own[random.int(0, own.length - 1)] : undefined;
    const known = old?.receipt && old.key !== null ? old : undefined;
    let fate: Fate;
    if (known && random.oneIn(8)) fate = await send(service, project, known, course);
    else if (known && random.oneIn(12)) fate = await conflict(service, project, known, course);
    else {
      const batchName = `${world.name}.${project.name}.${name}.${own.length}`;
      const batch = makeBatch(random, batchName, Date.now(), (name === "w0" && own.length === STAGED_AT) || undefined);
      own.push(batch);
      project.batches.push(batch);
      fate = await sendFirst(service, project, batch, random, course);
    }
    if (fate === "gone") return;
    await course.pause(random.int(0, REST_MS));
  }
}

type Course = Pick<World["course"], "report">;

/** Some clients send a batch twice at once, and some retry immediately without a response. */
async function sendFirst(
  service: Service,
  project: Project,
  batch: SentBatch,
  random: Random,
  course: Course,
): Promise<Fate> {
  const times = batch.key !== null && random.oneIn(6) ? 2 : 1;
  const fates = await Promise.all(Array.from({ length: times }, () => send(service, project, batch, course)));
  const isKnown = fates.some((fate) => fate !== "unknown");
  if (!isKnown && batch.key !== null && random.oneIn(2)) return send(service, project, batch, course);
  return fates.find((fate) => fate !== "unknown") ?? "unknown";
}

/** Sends a batch once and compares the receipt with what is known about the batch. */
export async function send(service: Service, project: Project, batch: SentBatch, course: Course): Promise<Fate> {
  const before = batch.receipt;
  const answer = await post<Receipt>(service, project, batch, batch.body);
  if (answer === null) return "unknown";
  if (isGone(project, answer)) return "gone";
  if (answer.status !== 201) {
    course.report([`batch ${batch.name} was answered with ${answer.status}: ${JSON.stringify(answer.body)}`]);
    return "unknown";
  }
  const receipt = answer.body.data;
  course.report(receiptProblems(batch, receipt, before));
  project.acknowledged(receipt.lastSeq);
  batch.receipt ??= receipt;
  return "stored";
}

/** The same key with another body is always refused. */
export async function conflict(service: Service, project: Project, batch: SentBatch, course: Course): Promise<Fate> {
  const answer = await post<Receipt>(service, project, batch, altered(batch));
  if (answer === null) return "unknown";
  if (isGone(project, answer)) return "gone";
  if (answer.status !== 409 || answer.body.error.code !== "IDEMPOTENCY_CONFLICT") {
    course.report([`another body under the key of ${batch.name} was answered with ${answer.status}`]);
  }
  return "stored";
}

function post<Data>(service: Service, project: Project, batch: SentBatch, body: string): Promise<Answer<Data> | null> {
  const { key, mediaType } = batch;
  const headers = { "Content-Type": mediaType, ...(key === null ? {} : { "Idempotency-Key": key }) };
  return service.attempt<Data>(`/logger/${project.id}/log`, { token: project.key.secret, body, headers });
}

/** Only a deleted project's key is refused. Refused keys count by client IP, so at its limit they get 429. */
function isGone({ deletion }: Project, { status, body }: Answer): boolean {
  if (deletion === "none") return false;
  return status === 401 || status === 404 || (status === 429 && JSON.stringify(body).includes("for this client IP"));
}

function receiptProblems(batch: SentBatch, receipt: Receipt, before: Receipt | null): string[] {
  const { name, entries } = batch;
  const wrong: string[] = [];
  if (receipt.accepted !== entries.length) wrong.push(`${name}: ${receipt.accepted} accepted of ${entries.length}`);
  if (receipt.lastSeq - receipt.firstSeq + 1 !== entries.length) wrong.push(`${name}: ${JSON.stringify(receipt)}`);
  if (before && !receipt.duplicate) wrong.push(`${name} was stored again: ${JSON.stringify(receipt)}`);
  const known = before ?? batch.receipt;
  const bare = (each: Receipt) => JSON.stringify({ ...each, duplicate: false });
  if (known && bare(known) !== bare(receipt)) wrong.push(`${name}: ${bare(receipt)} after ${bare(known)}`);
  return wrong;
}
