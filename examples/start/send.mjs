const { TAFFRAIL_URL, TAFFRAIL_API_KEY } = process.env;

const response = await fetch(`${TAFFRAIL_URL}/ingest`, {
  method: "POST",
  headers: { Authorization: `Bearer ${TAFFRAIL_API_KEY}`, "Content-Type": "application/json" },
  body: JSON.stringify({ level: "info", message: "Hello from Node", cart: 3 }),
});
console.log(response.status, await response.text());
