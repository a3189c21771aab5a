import { DurableObject } from "cloudflare:workers";

interface Env {
  FLOOR: DurableObjectNamespace<FloorObject>;
}

/**
 * The minimum of a durable ingest on this runtime: one call of an object, and one row with the body as received. It
 * reads nothing of the body, and has no keys or limits. The service's figures are compared with it.
 */
export class FloorObject extends DurableObject<Env> {
  readonly #sql: SqlStorage;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#sql = ctx.storage.sql;
    this.#sql.exec("CREATE TABLE IF NOT EXISTS bodies (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT");
  }

  /** Receives a body and stores nothing. */
  async receive(_body: ArrayBuffer): Promise<true> {
    return true;
  }

  async append(body: ArrayBuffer): Promise<true> {
    this.#sql.exec("INSERT INTO bodies (body) VALUES (?)", body);
    return true;
  }

  async count(): Promise<number> {
    return Number(this.#sql.exec("SELECT COUNT(*) AS bodies FROM bodies").one().bodies);
  }

  /** Frees the disk, because raw bodies of one run have up to a gigabyte. The object is unusable afterwards. */
  async drop(): Promise<void> {
    await this.ctx.storage.deleteAll();
  }
}

/**
 * `POST /append/<name>` stores the body, `/receive/<name>` only sends it to the object, and `/read/<name>` only reads it; `/count/<name>` and `/drop/<name>` accept any
 * method.
 */
export const direct = {
  async fetch(request, env) {
    const [, action, name = ""] = new URL(request.url).pathname.split("/");
    if (action === "read") {
      await request.arrayBuffer();
      return Response.json({ success: true }, { status: 201 });
    }
    const object = env.FLOOR.get(env.FLOOR.idFromName(name));
    if (action === "append") {
      await object.append(await request.arrayBuffer());
      return Response.json({ success: true }, { status: 201 });
    }
    if (action === "receive") {
      await object.receive(await request.arrayBuffer());
      return Response.json({ success: true }, { status: 201 });
    }
    if (action === "count") return Response.json({ bodies: await object.count() });
    if (action === "drop") {
      await object.drop();
      return Response.json({ success: true });
    }
    return new Response(null, { status: 404 });
  },
} satisfies ExportedHandler<Env>;

export default direct;
