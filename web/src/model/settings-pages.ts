/** Pages of the settings, in their order: the last part of the path, the title, and other words that find them. */
export const SETTINGS_PAGES = [
  { slug: "general", title: "General", words: "name retention" },
  { slug: "projects", title: "Projects", words: "create rename delete" },
  { slug: "keys", title: "API keys", words: "create rotate delete revoke token secret" },
  { slug: "members", title: "Members", words: "invite invitation people users roles permissions team" },
  { slug: "agents", title: "AI agents", words: "mcp assistant" },
  { slug: "limits", title: "Limits", words: "rate quota" },
  { slug: "violations", title: "Refused requests", words: "violations rate limit 429" },
  { slug: "missing", title: "Missing entries", words: "gaps lost" },
  { slug: "destinations", title: "Destinations", words: "webhook slack e-mail email" },
  { slug: "notifications", title: "Notifications", words: "deliveries sent" },
  { slug: "usage", title: "Usage", words: "storage cost volume" },
  { slug: "export", title: "Export", words: "download archive parquet" },
  { slug: "audit", title: "Audit", words: "history who changed sign-ins" },
  { slug: "danger", title: "Danger zone", words: "delete leave workspace" },
] as const;

export type SettingsPage = (typeof SETTINGS_PAGES)[number];
