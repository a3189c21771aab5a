"""The handler of examples/python/main.py."""

import json, logging, os, pathlib, time

source = pathlib.Path(os.environ["CLIENT_EXAMPLES"], "python/main.py").read_text()
source = source.replace("https://logs.example.com", os.environ["CLIENT_URL"]).replace("sk_...", os.environ["CLIENT_KEY"])
setup, _, _ = source.partition("logging.error(")
names = {"__name__": "example"}
exec(setup, names)

gave_up = 0


def count(record):
    global gave_up
    gave_up += 1


names["TaffrailHandler"].handleError = lambda self, record: count(record)
for n in range(int(os.environ["CLIENT_COUNT"])):
    logging.error("%s-%d", os.environ["CLIENT_RUN"], n, extra={"data": {"n": n}})
    time.sleep(int(os.environ["CLIENT_PACE_MS"]) / 1000)
names["listener"].stop()
print(json.dumps({"gaveUp": gave_up}))
