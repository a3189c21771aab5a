"""Logs by Python's logging through the OpenTelemetry SDK."""

import json
import logging
import os
import time

from opentelemetry._logs import set_logger_provider
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor

env = os.environ
gave_up = 0


class CountingExporter(OTLPLogExporter):
    def export(self, batch):
        global gave_up
        result = super().export(batch)
        if result.value != 0:
            gave_up += len(batch)
        return result


provider = LoggerProvider()
set_logger_provider(provider)
exporter = CountingExporter(
    endpoint=env["CLIENT_URL"] + "/v1/logs",
    headers={"Authorization": "Bearer " + env["CLIENT_KEY"]},
)
provider.add_log_record_processor(
    BatchLogRecordProcessor(exporter, schedule_delay_millis=100, max_export_batch_size=10, max_queue_size=100000)
)
logger = logging.getLogger("test-clients")
logger.propagate = False
logger.setLevel(logging.INFO)
logger.addHandler(LoggingHandler(logger_provider=provider))

for number in range(int(env["CLIENT_COUNT"])):
    logger.warning("%s-%d", env["CLIENT_RUN"], number, extra={"number": number})
    time.sleep(int(env["CLIENT_PACE_MS"]) / 1000)
provider.force_flush(120000)
provider.shutdown()
print(json.dumps({"gaveUp": gave_up}))
