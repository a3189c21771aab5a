import { DurableObject } from "cloudflare:workers";
import type { Env } from "../env.ts";

/** One account: password hash, sessions and, later, linked providers and one-time tokens. */
export class UserObject extends DurableObject<Env> {}
