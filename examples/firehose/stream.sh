aws firehose create-delivery-stream --delivery-stream-name taffrail --http-endpoint-destination-configuration '{
  "EndpointConfiguration": { "Url": "https://logs.example.com/ingest/firehose", "AccessKey": "sk_...", "Name": "taffrail" },
  "RequestConfiguration": { "ContentEncoding": "GZIP" },
  "BufferingHints": { "SizeInMBs": 1, "IntervalInSeconds": 60 },
  "RetryOptions": { "DurationInSeconds": 7200 },
  "S3BackupMode": "FailedDataOnly", "S3Configuration": { "RoleARN": "arn:aws:iam::...", "BucketARN": "arn:aws:s3:::..." } }'

aws logs put-subscription-filter --log-group-name /aws/lambda/checkout --filter-name taffrail --filter-pattern "" \
  --destination-arn arn:aws:firehose:...:deliverystream/taffrail --role-arn arn:aws:iam::...
