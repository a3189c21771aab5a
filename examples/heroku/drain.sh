heroku drains:add "https://drain:sk_...@logs.example.com/ingest/syslog" -a my-app
