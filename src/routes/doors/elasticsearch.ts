import type { Context } from "hono";
import { z } from "zod";
import { BulkDecoder } from "../../doors/elasticsearch.ts";
import { REFUSED } from "../../doors/elasticsearch-items.ts";
import type { AppEnv } from "../../http/context.ts";
import { refuse } from "../../http/errors.ts";
import type { Resource } from "../../http/resource.ts";
import { INGEST_LIMITS } from "../../logs/entry.ts";
import { counted, sized } from "../../platform/bytes.ts";
import { publicLimit } from "../guards/address.ts";
import { addDoor, answerLikeDoor, type DoorRefusal } from "./door.ts";
import { refuseMalformedKey } from "./door-key.ts";

const DESCRIPTION = [
  "Elasticsearch's bulk API: pairs of an action (`index` or `create`) and a document, one a line. A document is read as a record;",
  "`_index` and `_id` of its action are in `data`. The response has one item for each action, in order, under the action's name.",
  "`update`, `delete` and a document that is not a JSON object fail alone with 400. The project is the key's, whatever the index.",
  "200 without errors means that the entries are durable and that every query returns them.",
  `Limits: ${counted(INGEST_LIMITS.linesEntries)} documents, ${sized(INGEST_LIMITS.linesBodyBytes)} after decompression.`,
].join("\n");

const HANDSHAKE = [
  "Says what agents ask before they send: a version, a license, templates that exist. Nothing is stored.",
  "No key is needed. A credential that has not the form of a key gets 401; keys are not looked up.",
  "A search and other requests for documents get 400 or 405, as do documents outside of `_bulk`: query entries with `POST /logger/search`.",
].join("\n");

const EXAMPLE =
  '{"create":{"_index":"logs"}}\n{"@timestamp":"2026-11-23T08:00:00.123Z","message":"payment was slow"}\n';

/** Elasticsearch's clients refuse a server without it. */
const PRODUCT = { "X-Elastic-Product": "Elasticsearch" };
/**
 * Newer than any agent, because agents refuse an older server: `allow_older_versions` of
 * https://www.elastic.co/docs/reference/beats/filebeat/elasticsearch-output
 */
const VERSION = "9.99.0";
const CLUSTER = { cluster_name: "taffrail", cluster_uuid: "dGFmZnJhaWwtY2x1c3Rlcg" };

const INFO = {
  name: "taffrail",
  ...CLUSTER,
  version: {
    number: VERSION,
    build_flavor: "default",
    build_type: "tar",
    build_hash: "unknown",
    build_date: "2026-01-01T00:00:00.000Z",
    build_snapshot: false,
    lucene_version: "10.0.0",
    minimum_wire_compatibility_version: "7.17.0",
    minimum_index_compatibility_version: "7.0.0",
  },
  tagline: "You Know, for Search",
};
const LICENSE = { uid: "taffrail", type: "basic", mode: "basic", status: "active" };
const NODES = { _nodes: { total: 1, successful: 1, failed: 0 }, cluster_name: CLUSTER.cluster_name, nodes: {} };

/** Answers of paths that agents ask before they send. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  "/es": INFO,
  "/es/": INFO,
  "/es/_cluster/health": {
    cluster_name: CLUSTER.cluster_name,
    status: "green",
    timed_out: false,
    number_of_nodes: 1,
    number_of_data_nodes: 1,
    active_shards_percent_as_number: 100,
  },
  "/es/_license": { license: LICENSE },
  "/es/_xpack": { license: LICENSE, features: { ilm: { available: true, enabled: true } } },
  "/es/_nodes": NODES,
  "/_cat/health": [],
};

/** Templates, policies and pipelines exist for agents that look for theirs, and are accepted and dropped if they set one up. */
const SETUP_PATHS = ["/es/:group", "/es/:group/:name", "/es/:group/:name/:part"];

/** Requests that would be taken for answered, or documents for stored, if they were accepted like a template. */
const READING: ReadonlySet<string> = new Set([
  ...[
    "_search",
    "_msearch",
    "_async_search",
    "_search_shards",
    "_knn_search",
    "_rank_eval",
    "_count",
    "_validate",
    "_pit",
  ],
  ...["_source", "_mget", "_explain", "_termvectors", "_mtermvectors", "_terms_enum", "_field_caps", "_mvt", "_graph"],
  ...["_sql", "_query", "_eql"],
]);
const DOCUMENTS: ReadonlySet<string> = new Set([
  ...["_bulk", "_doc", "_create", "_update", "_update_by_query", "_delete_by_query", "_reindex"],
]);
const NOT_READ = "Entries are not read by Elasticsearch's API. Query them with POST /logger/search.";
const BULK_ONLY = "Documents are accepted by POST to _bulk only.";
const NO_METHOD =
  "The request is not supported. Documents are accepted by POST to _bulk; query entries with POST /logger/search.";

/**
 * The bulk helper of Elasticsearch's JavaScript client ends with all its documents at a response with 429, and at the fourth
 * with 503. Items with 429 it sends again. Other clients, such as Vector, drop items with 429 and repeat the request.
 * @see https://www.elastic.co/docs/reference/elasticsearch/clients/javascript/client-helpers
 */
const CLIENT_META = "x-elastic-client-meta";
const BULK_HELPER = /(?:^|,)h=bp(?:,|$)/;

/** What was read of requests that may be refused. */
const decoders = new WeakMap<Context<AppEnv>, BulkDecoder>();

/** Adds the door of Elasticsearch's clients, and their handshake. */
export function addElasticsearch(resource: Resource): void {
  addDoor(resource, {
    operation: "door.elasticsearch",
    // rsyslog cannot send below a prefix.
    paths: ["/es/_bulk", "/es/:index/_bulk", "/_bulk"],
    summary: "Send entries like Elasticsearch bulk",
    description: DESCRIPTION,
    body: { "application/x-ndjson": { schema: z.string(), example: EXAMPLE } },
    status: 200,
    response: {
      "application/json": {
        schema: z.looseObject({ took: z.int(), errors: z.boolean(), items: z.array(z.looseObject({})) }),
        example: { took: 1, errors: false, items: [{ create: { _index: "logs", _id: null, status: 201 } }] },
      },
    },
    decoder({ c, entries, reader }) {
      const decoder = new BulkDecoder(entries, reader, entries.meter, c.req.param("index"));
      decoders.set(c, decoder);
      return decoder;
    },
    success: ({ mergedIndexes }, { items }) => jsonText(items.toJson(mergedIndexes), 200),
    failure(refusal, c) {
      const decoder = decoders.get(c);
      const isHelper = BULK_HELPER.test(c.req.header(CLIENT_META) ?? "");
      const isLater = refusal.status === 429 || refusal.status === 503;
      if (!isHelper || !isLater || !decoder?.isWhole) return failure(refusal);
      return jsonText(decoder.items.toRefusal(refusal.message), 200);
    },
  });
  for (const path of Object.keys(ANSWERS)) {
    addHandshake(resource, "GET", path, () => ANSWERS[path]);
  }
  for (const path of ["/es/_refresh", "/es/:index/_refresh"]) {
    addHandshake(resource, "POST", path, () => ({ _shards: { total: 1, successful: 1, failed: 0 } }));
  }
  for (const path of SETUP_PATHS) {
    addHandshake(resource, "GET", path, (c) => {
      refuseDocuments(c, NOT_READ);
      return c.req.param("group") === "_nodes" ? NODES : {};
    });
    addHandshake(resource, "PUT", path, (c) => {
      refuseDocuments(c, BULK_ONLY);
      return { acknowledged: true };
    });
  }
}

/** Refuses requests that read or write documents. @param message of those that are about one document */
function refuseDocuments(c: Context<AppEnv>, message: string): void {
  const { group = "", name = "", part } = c.req.param();
  const parts = [group, name, part ?? ""];
  if (parts.some((each) => READING.has(each))) refuse("VALIDATION_ERROR", NOT_READ);
  // `/logs/type/id` is a document of Elasticsearch 6 and before.
  const isTyped = part !== undefined && !group.startsWith("_") && !name.startsWith("_");
  if (isTyped || parts.some((each) => DOCUMENTS.has(each))) refuse("VALIDATION_ERROR", message);
}

/** Adds a route that agents ask before they send. It stores nothing and needs no key, but refuses a malformed one. */
function addHandshake(
  resource: Resource,
  method: "GET" | "PUT" | "POST",
  path: string,
  answer: (c: Context<AppEnv>) => unknown,
): void {
  resource.route(
    {
      method,
      path,
      operation: "door.elasticsearch.handshake",
      tag: "Doors",
      summary: `Answer the handshake of Elasticsearch's clients`,
      description: HANDSHAKE,
      security: "none",
      status: 200,
      documentedResponse: { "application/json": { schema: z.looseObject({}), example: {} } },
      errors: ["VALIDATION_ERROR", "INVALID_API_KEY", "RATE_LIMITED"],
      isForeign: true,
      answerLike: (c) => answerLikeDoor(c, { failure }),
    },
    [
      async (c, next) => {
        answerLikeDoor(c, { failure });
        return publicLimit(c, async () => {
          refuseMalformedKey(c);
          await next();
        });
      },
    ],
    (c) => jsonText(JSON.stringify(answer(c)), 200),
  );
}

/** Types of errors by status, as in Elasticsearch. */
const ERROR_TYPES: Readonly<Record<number, string>> = {
  401: "security_exception",
  403: "security_exception",
  413: "content_too_long_exception",
  415: "media_type_header_exception",
  429: REFUSED,
  503: "unavailable_exception",
};

function failure({ status, code, message: told }: DoorRefusal): Response {
  const type = ERROR_TYPES[status] ?? (status < 500 ? "illegal_argument_exception" : "exception");
  const message = code === "METHOD_NOT_ALLOWED" ? NO_METHOD : told;
  const error = { root_cause: [{ type, reason: message }], type, reason: message };
  return jsonText(JSON.stringify({ error, status }), status);
}

function jsonText(text: string, status: number): Response {
  return new Response(text, { status, headers: { ...PRODUCT, "Content-Type": "application/json" } });
}
