use opentelemetry_otlp::{LogExporter, Protocol, WithExportConfig, WithHttpConfig};
use tracing_subscriber::prelude::*;

let exporter = LogExporter::builder()
    .with_http()
    .with_protocol(Protocol::HttpBinary)
    .with_endpoint("https://logs.example.com/otlp/v1/logs")
    .with_headers([("Authorization".into(), "Bearer sk_...".into())].into())
    .build()?;
let provider = opentelemetry_sdk::logs::SdkLoggerProvider::builder().with_batch_exporter(exporter).build();
tracing_subscriber::registry()
    .with(opentelemetry_appender_tracing::layer::OpenTelemetryTracingBridge::new(&provider))
    .init();

tracing::error!(order = 7, "Payment failed");
