// Serilog.Sinks.OpenTelemetry
.WriteTo.OpenTelemetry(o => {
    o.Endpoint = "https://logs.example.com/v1/logs";
    o.Protocol = OtlpProtocol.HttpProtobuf;
    o.Headers = new Dictionary<string, string> { ["Authorization"] = "Bearer sk_..." };
})
