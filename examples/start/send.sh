curl "$TAFFRAIL_URL/ingest" \
  -H "Authorization: Bearer $TAFFRAIL_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{"level":"info","message":"Hello from curl","cart":3}'
