export OTEL_EXPORTER_OTLP_ENDPOINT=https://logs.example.com
export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf
export OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20sk_..."
export OTEL_SERVICE_NAME=checkout
export OTEL_TRACES_EXPORTER=none OTEL_METRICS_EXPORTER=none OTEL_LOGS_EXPORTER=otlp
# Java, without a change of the program. Other languages read the same variables.
java -javaagent:opentelemetry-javaagent.jar -jar app.jar
