curl -X POST "https://api.cloudflare.com/client/v4/zones/$ZONE/logpush/jobs" -H "Authorization: Bearer $CF_TOKEN" \
  -H "Content-Type: application/json" -d '{
  "name": "taffrail", "dataset": "http_requests", "enabled": true,
  "destination_conf": "https://logs.example.com/ingest?header_Authorization=Bearer%20sk_...&header_Content-Type=application%2Fx-ndjson",
  "output_options": { "field_names": ["EdgeStartTimestamp","ClientRequestMethod","ClientRequestPath","EdgeResponseStatus","RayID"],
                      "timestamp_format": "unixnano" },
  "max_upload_bytes": 5000000, "max_upload_records": 10000 }'
