/** Measures one client in a separate process, so that no other client affects its compiled code. Prints JSON. */
import { SUBJECTS } from "./subjects.mjs";

const ROUNDS = 200;
const CALLS = 1000;

const small = Array.from({ length: CALLS }, (_, i) => ({ userId: `u_${i}`, action: "login", ms: i + 0.5, ok: true }));
const nested = Array.from({ length: CALLS }, (_, i) => ({
  req: {
    method: "POST",
    url: `/api/v1/orders/${i}`,
    headers: {
      host: "shop.example.com",
      "user-agent": "Mozilla/5.0 (X11; Linux x86_64)",
      authorization: "Bearer abcdef",
    },
    remote: { address: `10.0.0.${i % 256}`, port: 40_000 + i },
  },
  res: { status: 200, bytes: 1234 + i, ms: 12.25 + i, cached: false },
  user: { id: `u_${i}`, name: "Ann Example", roles: ["admin", "editor", "viewer"], password: "hunter2" },
  items: [
    { sku: "A-1", quantity: 2, price: 9.99 },
    { sku: "B-2", quantity: 1, price: 19.5 },
  ],
  tags: ["a", "b", "c"],
}));

const subject = await SUBJECTS[process.argv[2]]();
const cases = {
  gated: subject.gated && ((i) => subject.gated("not logged", small[i])),
  small: (i) => subject.log("user logged in", small[i]),
  nested: (i) => subject.log("order placed", nested[i]),
};
const result = {};
for (const [name, call] of Object.entries(cases)) {
  if (!call) continue;
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = process.hrtime.bigint();
    for (let i = 0; i < CALLS; i++) call(i);
    rounds.push(Number(process.hrtime.bigint() - start) / CALLS);
    // Work that the client does later is not part of the call.
    await (subject.idle?.() ?? new Promise((resolve) => setImmediate(resolve)));
  }
  rounds.splice(0, ROUNDS / 4);
  rounds.sort((a, b) => a - b);
  result[name] = { median: rounds[rounds.length >> 1], best: rounds[0] };
}
console.log(JSON.stringify(result));
process.exit(0);
