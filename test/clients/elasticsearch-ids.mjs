/**
 * Sends documents with ids by Elasticsearch's own client, without its retries: after a failure the program puts the documents
 * into its next request, with those that were logged meanwhile.
 */
import { Client } from "@elastic/elasticsearch";

const { CLIENT_URL, CLIENT_KEY, CLIENT_COUNT, CLIENT_PACE_MS, CLIENT_RUN } = process.env;
const client = new Client({ node: `${CLIENT_URL}/es`, auth: { apiKey: CLIENT_KEY }, maxRetries: 0 });
const ATTEMPTS = 200;

let waiting = [];
let isLogging = true;

async function send() {
  const batch = waiting.slice(0, 50);
  const operations = batch.flatMap(({ id, document }) => [{ create: { _index: "test-clients", _id: id } }, document]);
  const { items } = await client.bulk({ operations });
  const stored = new Set(
    items.filter(({ create }) => [201, 409].includes(create.status)).map(({ create }) => create._id),
  );
  waiting = waiting.filter(({ id }) => !stored.has(id));
}

async function deliver() {
  for (let attempt = 0; attempt < ATTEMPTS && (isLogging || waiting.length > 0); attempt++) {
    if (waiting.length > 0) await send().catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const delivered = deliver();
for (let number = 0; number < Number(CLIENT_COUNT); number++) {
  const message = `${CLIENT_RUN}-${number}`;
  const document = { "@timestamp": new Date().toISOString(), message, "log.level": "warn", number };
  waiting.push({ id: `id-${message}`, document });
  await new Promise((resolve) => setTimeout(resolve, Number(CLIENT_PACE_MS)));
}
isLogging = false;
await delivered;
console.log(JSON.stringify({ gaveUp: waiting.length }));
