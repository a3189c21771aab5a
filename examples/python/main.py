import http.client, json, logging, logging.handlers, math, queue, socket, time, urllib.request

def finite(value):
    """JSON has no NaN and no infinities: they become texts."""
    if isinstance(value, dict):
        return {str(name): finite(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value

class TaffrailHandler(logging.Handler):
    def __init__(self, url, key):
        super().__init__()
        self.url, self.key = url, key

    def emit(self, record):
        try:
            entry = {
                "time": record.created, "level": record.levelname, "message": record.getMessage(),
                "logger": record.name, "host": socket.gethostname(), "file": record.pathname, "line": record.lineno,
                **getattr(record, "data", {}),
            }
            self.send(json.dumps(finite(entry), default=str, allow_nan=False).encode())
        except Exception:
            self.handleError(record)  # reports on stderr; the next record is sent as usual

    def send(self, body):
        request = urllib.request.Request(self.url, body,
            {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"})
        for wait in (0.5, 1, 2, 4, 8, None):
            try:
                urllib.request.urlopen(request, timeout=10).close()
                return
            except (OSError, http.client.HTTPException) as error:
                status = getattr(error, "code", 503)
                if wait is None or (status < 500 and status != 429):
                    raise
                time.sleep(wait)

records = queue.SimpleQueue()
listener = logging.handlers.QueueListener(records, TaffrailHandler("https://logs.example.com/ingest", "sk_..."))
listener.start()
logging.getLogger().addHandler(logging.handlers.QueueHandler(records))

logging.error("Payment failed", extra={"data": {"order": 7}})
listener.stop()  # at the end of the program: sends what is left
