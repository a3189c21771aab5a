import json, os, urllib.request

request = urllib.request.Request(
    os.environ["TAFFRAIL_URL"] + "/ingest",
    data=json.dumps({"level": "info", "message": "Hello from Python", "cart": 3}).encode(),
    headers={
        "Authorization": "Bearer " + os.environ["TAFFRAIL_API_KEY"],
        "Content-Type": "application/json",
    },
)
with urllib.request.urlopen(request) as response:
    print(response.status, response.read().decode())
