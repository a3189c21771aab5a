import { createHmac, timingSafeEqual } from "node:crypto";
import type { Context } from "hono";
import { z } from "zod";
import type { DoorDecoder } from "../../doors/decoder.ts";
import { FirehoseDecoder } from "../../doors/firehose.ts";
import { vercelDecoder } from "../../doors/vercel.ts";
import type { AppEnv } from "../../http/context.ts";
import { refuse } from "../../http/errors.ts";
import type { Resource } from "../../http/resource.ts";
import type { Steps } from "../../platform/turns.ts";
import { publicLimit } from "../guards/address.ts";
import { addDoor, answerLikeDoor, type DoorRefusal } from "./door.ts";

/** Names of Vercel's headers. The first one proves that an endpoint belongs to the team that wants to send to it. */
const VERIFY = "x-vercel-verify";
const SIGNATURE = "x-vercel-signature";
const VERIFY_CODE = /^[\w-]{1,200}$/;

const FIREHOSE_ID = "X-Amz-Firehose-Request-Id";
const FIREHOSE_REQUEST = {
  requestId: "ed4acda5-034f-9f42-bba1-f29aea6d7d8f",
  timestamp: 1795183200000,
  records: [{ data: "eyJtc2ciOiJQYXltZW50IGZhaWxlZCJ9Cg==" }],
};
const VERCEL_ENTRY = { id: "1795183200123", message: "Payment failed", timestamp: 1795183200123, level: "error" };
const EMPTY = { "application/json": { schema: z.object({}), example: {} } };
const verifyQuery = z.object({
  verify: z.string().optional().describe("The code that Vercel expects in the response header `x-vercel-verify`."),
});

/** Adds the doors of platforms that push the logs of their customers. */
export function addDrains(resource: Resource): void {
  addFirehose(resource);
  addDoor(resource, {
    operation: "door.vercel",
    paths: ["/ingest/vercel"],
    summary: "Receive a Vercel log drain",
    description: [
      "An array or lines of log entries. If the settings of the key have `vercelSecret`, `x-vercel-signature` must be the HMAC-SHA1 of",
      "the body with it.",
    ].join("\n"),
    body: {
      "application/json": { schema: z.array(z.looseObject({})), example: [VERCEL_ENTRY] },
      "application/x-ndjson": { schema: z.string(), example: `${JSON.stringify(VERCEL_ENTRY)}\n` },
    },
    query: verifyQuery,
    status: 200,
    response: EMPTY,
    decoder({ c, entries, reader, settings }) {
      const decoder = vercelDecoder(entries, entries.meter, reader.mapping);
      return settings.vercelSecret === undefined ? decoder : new SignedBody(c, decoder, settings.vercelSecret);
    },
    success: (_, __, c) => verified(c, Response.json({})),
    failure: vercelFailure,
  });
  resource.route(
    {
      method: "GET",
      path: "/ingest/vercel",
      operation: "door.vercel.verify",
      tag: "Doors",
      summary: "Verify the endpoint of a Vercel drain",
      description: "Returns the code of `verify` in the header `x-vercel-verify`. Nothing is checked or stored.",
      documentedQuery: verifyQuery,
      security: "none",
      status: 200,
      documentedResponse: EMPTY,
      errors: ["RATE_LIMITED"],
      isForeign: true,
    },
    [
      async (c, next) => {
        answerLikeDoor(c, { failure: vercelFailure });
        return publicLimit(c, next);
      },
    ],
    (c) => verified(c, Response.json({})),
  );
}

function addFirehose(resource: Resource): void {
  addDoor(resource, {
    operation: "door.firehose",
    paths: ["/ingest/firehose"],
    summary: "Receive an Amazon Data Firehose stream",
    description: [
      "Records of lines, of JSON, or of CloudWatch Logs subscriptions, each perhaps compressed by gzip. The access key of the stream is",
      "an API key. The id of the request makes retries safe.",
    ].join("\n"),
    body: {
      "application/json": {
        schema: z.looseObject({
          requestId: z.string(),
          timestamp: z.number(),
          records: z.array(z.looseObject({ data: z.base64() })),
        }),
        example: FIREHOSE_REQUEST,
      },
    },
    status: 200,
    response: {
      "application/json": {
        schema: z.object({ requestId: z.string(), timestamp: z.number() }),
        example: { requestId: FIREHOSE_REQUEST.requestId, timestamp: 1795183200456 },
      },
    },
    decoder: ({ entries, reader }) => new FirehoseDecoder(entries, entries.meter, reader),
    requestId: (c, decoder) => c.req.header(FIREHOSE_ID) ?? decoder.requestId,
    // The body has the time of the attempt, too.
    contentHash: (decoder) => decoder.contentHash,
    success: (_, { requestId }, c) => Response.json(firehoseAnswer(c, requestId)),
    failure: ({ status, message }, c) =>
      Response.json({ ...firehoseAnswer(c, null), errorMessage: message }, { status }),
  });
}

/** Firehose compares the id with the one of its request. @param read the id in the body */
function firehoseAnswer(c: Context<AppEnv>, read: string | null): { requestId: string; timestamp: number } {
  return { requestId: c.req.header(FIREHOSE_ID) ?? read ?? c.get("requestId"), timestamp: Date.now() };
}

function vercelFailure({ status, code, message }: DoorRefusal, c: Context<AppEnv>): Response {
  return verified(c, Response.json({ code, error: message }, { status }));
}

/** Adds the code of the URL, or else that of the request. */
function verified(c: Context<AppEnv>, response: Response): Response {
  const code = c.req.query("verify") ?? c.req.header(VERIFY);
  if (code !== undefined && VERIFY_CODE.test(code)) response.headers.set(VERIFY, code);
  return response;
}

/** Refuses a body whose signature is wrong before its entries are stored. */
class SignedBody implements DoorDecoder {
  readonly #c: Context<AppEnv>;
  readonly #decoder: DoorDecoder;
  readonly #hmac;

  constructor(c: Context<AppEnv>, decoder: DoorDecoder, secret: string) {
    this.#c = c;
    this.#decoder = decoder;
    this.#hmac = createHmac("sha1", secret);
  }

  get held(): number {
    return this.#decoder.held;
  }

  *read(chunk: Uint8Array): Steps<void> {
    this.#hmac.update(chunk);
    yield* this.#decoder.read(chunk);
  }

  *end(): Steps<void> {
    const sent = Buffer.from(this.#c.req.header(SIGNATURE) ?? "", "hex");
    const wanted = this.#hmac.digest();
    if (sent.length !== wanted.length || !timingSafeEqual(sent, wanted)) {
      refuse("FORBIDDEN", "x-vercel-signature is not the signature of the body with the key's vercelSecret.");
    }
    yield* this.#decoder.end();
  }
}
