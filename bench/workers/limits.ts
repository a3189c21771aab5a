import { AddressObject } from "../../src/objects/address/address.ts";

export { AddressObject };

interface Env {
  ADDRESSES: DurableObjectNamespace<AddressObject>;
}

/** The maximum limit, so that nothing is refused. */
const LIMIT = { limit: 1_000_000, windowSeconds: 60 } as const;

/** One request, one call of the same object: `GET /check/<name>` counts, `GET /empty/<name>` does nothing. */
export const direct = {
  async fetch(request, env) {
    const [, action, name = ""] = new URL(request.url).pathname.split("/");
    if (action === "none") return Response.json({ admitted: true });
    const object = env.ADDRESSES.get(env.ADDRESSES.idFromName(name));
    if (action === "empty") return Response.json({ admitted: await object.ping() });
    const { admitted } = await object.check({ identifier: `ip:${name}`, cost: 1, ...LIMIT }, "API_DEFAULT");
    return Response.json({ admitted }, { status: admitted ? 200 : 429 });
  },
} satisfies ExportedHandler<Env>;

export default direct;
