import * as Sentry from "@sentry/node"; // or @sentry/browser, @sentry/nextjs ...

Sentry.init({ dsn: "https://sk_...@logs.example.com/1", enableLogs: true });

Sentry.logger.warn("Cart restored", { order: 7 });
