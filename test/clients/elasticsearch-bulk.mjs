/** Sends documents with the bulk helper of Elasticsearch's own client. */
import { Client } from "@elastic/elasticsearch";

const { CLIENT_URL, CLIENT_KEY, CLIENT_COUNT, CLIENT_PACE_MS, CLIENT_RUN } = process.env;
const client = new Client({ node: `${CLIENT_URL}/es`, auth: { apiKey: CLIENT_KEY }, maxRetries: 10 });

async function* documents() {
  for (let number = 0; number < Number(CLIENT_COUNT); number++) {
    yield { "@timestamp": new Date().toISOString(), message: `${CLIENT_RUN}-${number}`, "log.level": "warn", number };
    await new Promise((resolve) => setTimeout(resolve, Number(CLIENT_PACE_MS)));
  }
}

let gaveUp = 0;
const done = client.helpers.bulk({
  datasource: documents(),
  flushBytes: 4_000,
  flushInterval: 500,
  retries: 10,
  wait: 200,
  onDocument: () => ({ create: { _index: "test-clients" } }),
  onDrop: () => gaveUp++,
});
// It ends with the error of a request that it gave up, and does not say what was in it.
await done.catch((error) => {
  console.error(error.name);
  gaveUp = null;
});
console.log(JSON.stringify({ gaveUp }));
