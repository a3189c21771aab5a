// Serilog.Sinks.Http with compact JSON
Log.Logger = new LoggerConfiguration()
    .Enrich.WithProperty("service", "shop")
    .WriteTo.DurableHttpUsingFileSizeRolledBuffers(
        requestUri: "https://logs.example.com/ingest",
        textFormatter: new CompactJsonFormatter(),
        batchFormatter: new ArrayBatchFormatter(),
        httpClient: new JsonHttpClient(keyHeader)) // an IHttpClient that sets Authorization: Bearer sk_...
    .CreateLogger();
