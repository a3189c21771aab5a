import { z } from "zod";
import { isLoopback, isSecure, UNKNOWN_CLIENT_IP } from "./platform/loopback.ts";

export interface Sender {
  name: string;
  address: string;
}

const SENDER = /^(?:([^<>"\r\n]*)<([^<>\s@]+@[^<>\s@]+)>|([^<>\s@]+@[^<>\s@]+))$/;

/** `Taffrail <mail@example.com>` or `mail@example.com`; null for anything else. */
export function parseSender(text: string): Sender | null {
  const match = SENDER.exec(text.trim());
  if (!match) return null;
  return { name: (match[1] ?? "").trim(), address: match[2] ?? match[3] ?? "" };
}

/** Bytes of secret that HS256 needs (RFC 7518 section 3.2); the library would accept fewer. */
const SECRET_MIN_BYTES = 32;

const secret = z
  .string()
  .refine(
    (text) => new TextEncoder().encode(text).length >= SECRET_MIN_BYTES,
    `must be at least ${SECRET_MIN_BYTES} bytes`,
  );

const origin = z.url({ protocol: /^https?$/ }).transform((text) => new URL(text).origin);

/** An origin for tokens and links. It must be https or loopback, so that nothing on the network path can read them. */
const secureOrigin = z
  .url({ protocol: /^https?$/, abort: true })
  .refine((text) => isSecure(new URL(text)), "must be https, or http on a loopback address")
  .transform((text) => new URL(text).origin);

/** An endpoint of an identity provider. */
const providerUrl = z.url({ protocol: /^https?$/, abort: true }).refine((text) => isProviderUrl(new URL(text)), {
  message: "must be https, or http on a loopback address, without credentials or a fragment",
});

function isProviderUrl(url: URL): boolean {
  return isSecure(url) && url.username === "" && url.password === "" && url.hash === "";
}

/** Like `providerUrl`, for an address to which paths are appended. */
const providerBase = providerUrl.transform((text) => text.replace(/\/$/, ""));

const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, "must be a whole number")
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be between ${min} and ${max}`);

/** Parts between commas. */
const list = z
  .string()
  .transform((text) => text.split(",").map((part) => part.trim()))
  .transform((parts) => parts.filter((part) => part !== ""));

const originList = list.pipe(z.array(origin));

/** RFC 9116 requires a URI without a line break; an e-mail address alone stands for its `mailto:`. */
const contact = z
  .string()
  .transform((text) => (/^[^\s:/@]+@[^\s:/@]+$/.test(text) ? `mailto:${text}` : text))
  .refine(
    (text) => /^(https:\/\/[!-~]+|mailto:[!-~]+@[!-~]+)$/.test(text),
    "must be e-mail addresses or https addresses",
  );

/**
 * Settings of the worker, from `[vars]`, secrets, or the environment of `npm start`.
 * Settings of `npm start` itself (PORT, HOST, DATA_DIR) are in `scripts/`.
 */
export const settingsSchema = z
  .object({
    BASE_URL: secureOrigin.default("http://127.0.0.1:8787"),
    FRONTEND_URL: secureOrigin.optional(),
    CORS_ORIGINS: originList.default([]),
    JWT_SECRET: secret,
    JWT_SECRET_PREVIOUS: secret.optional(),
    REFRESH_PEPPER: secret,
    MAILER: z.enum(["outbox", "cloudflare", "resend"]).default("outbox"),
    // `name <address>` or an address alone.
    MAIL_FROM: z
      .string()
      .refine((text) => parseSender(text) !== null, "must be an address, or a name and <an address>")
      .default("Taffrail <taffrail@localhost.localdomain>"),
    RESEND_API_KEY: z.string().optional(),
    REFRESH_LEEWAY_SECONDS: integer(0, 60).default(0),
    PASSWORD_BLOCKLIST: z.enum(["on", "off"]).default("off"),
    // No client id: the provider's routes answer OAUTH_NOT_CONFIGURED. No client secret: a public client.
    PROVIDER_A_CLIENT_ID: z.string().optional(),
    PROVIDER_A_CLIENT_SECRET: z.string().optional(),
    PROVIDER_A_AUTHORIZE_URL: providerUrl.default("https://github.com/login/oauth/authorize"),
    PROVIDER_A_TOKEN_URL: providerUrl.default("https://github.com/login/oauth/access_token"),
    PROVIDER_A_API_URL: providerBase.default("https://api.github.com"),
    PROVIDER_B_ISSUER: providerUrl.default("https://accounts.google.com"),
    PROVIDER_B_CLIENT_ID: z.string().optional(),
    PROVIDER_B_CLIENT_SECRET: z.string().optional(),
    // Seconds that a batch stays in its workspace's object at most, the same while 10,000 entries of a project wait, and bytes
    // as stored that one object keeps there.
    RECENT_MAX_AGE_SECONDS: integer(1, 86_400).default(3600),
    RECENT_FULL_AGE_SECONDS: integer(1, 86_400).default(30),
    RECENT_MAX_BYTES: integer(10_000, 67_108_864).default(16_777_216),
    // `off`: files of the cold tier are stored in D1. Files in the bucket are still read and deleted.
    COLD_BUCKET: z.enum(["on", "off"]).default("on"),
    // Bytes of a database of segments from which on new ranges go to the next one, if it is bound. D1 allows 10 GB.
    COLD_DB_MAX_BYTES: integer(100_000, 10_000_000_000).default(9_000_000_000),
    // Objects that read parts of one large table at the same time; 0: the router reads all.
    SCAN_OBJECTS: integer(0, 16).default(0),
    // Workspaces that one account may own, beside its personal one.
    MAX_OWNED_WORKSPACES: integer(1, 100_000).default(10),
    AUTH_LIMIT: integer(1, 1_000_000).default(5),
    // Client IP of requests without `CF-Connecting-IP` and `X-Forwarded-For`. `npm start` sets the address of its
    // machine.
    DEFAULT_CLIENT_IP: z.union([z.ipv4(), z.ipv6()]).default(UNKNOWN_CLIENT_IP),
    // Contacts for vulnerabilities of this deployment, for `/.well-known/security.txt`, which is 404 without them.
    SECURITY_CONTACT: list.pipe(z.array(contact)).default([]),
    // Opens `/operator/*`, which is 404 without.
    OPERATOR_TOKEN: z.string().min(32, "must be at least 32 characters").optional(),
    // `loopback`: notifications may also go to this machine, by plain http. For tests.
    OUTBOUND_NETWORK: z.enum(["public", "loopback"]).default("public"),
    LOG_LEVEL: z.enum(["info", "warn", "error"]).default("info"),
  })
  .superRefine((settings, context) => {
    const problem = (name: string, message: string): void => {
      context.addIssue({ code: "custom", path: [name], message });
    };
    if (settings.MAILER === "outbox" && !isLoopback(new URL(settings.BASE_URL))) {
      problem("MAILER", "outbox shows every mail to every caller, so it requires a loopback BASE_URL");
    }
    if (settings.OUTBOUND_NETWORK === "loopback" && !isLoopback(new URL(settings.BASE_URL))) {
      problem("OUTBOUND_NETWORK", "loopback reaches services of this machine, so it requires a loopback BASE_URL");
    }
    if (settings.MAILER !== "outbox" && parseSender(settings.MAIL_FROM)?.address.endsWith("@localhost.localdomain")) {
      problem("MAIL_FROM", `is required with MAILER=${settings.MAILER}`);
    }
    if (settings.MAILER === "resend" && settings.RESEND_API_KEY === undefined) {
      problem("RESEND_API_KEY", "is required with MAILER=resend");
    }
  })
  .transform((settings) => ({ ...settings, FRONTEND_URL: settings.FRONTEND_URL ?? settings.BASE_URL }));

type Frozen<T> = { readonly [Name in keyof T]: T[Name] extends (infer Item)[] ? readonly Item[] : T[Name] };

export type Settings = Frozen<z.output<typeof settingsSchema>>;

/** One line per bad setting: its name and what is wrong. Never the value, which may be a secret. */
export function settingsProblems(source: Record<string, unknown>): string[] {
  const result = settingsSchema.safeParse(present(source));
  return result.success ? [] : result.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
}

const cache = new WeakMap<object, Settings>();

/** Returns the validated settings of an environment, frozen; computed once per isolate. Throws with the invalid names. */
export function settingsOf(env: object): Settings {
  const known = cache.get(env);
  if (known) return known;
  const source = present({ ...env });
  const problems = settingsProblems(source);
  if (problems.length > 0) throw new Error(`Invalid settings. ${problems.join("; ")}`);
  const settings = frozen(settingsSchema.parse(source));
  cache.set(env, settings);
  return settings;
}

/**
 * Replaces settings of an environment, for tests.
 * @returns restores the earlier ones
 */
export function overrideSettings(env: object, changed: Partial<Settings>): () => void {
  const before = settingsOf(env);
  cache.set(env, frozen({ ...before, ...changed }));
  return () => void cache.set(env, before);
}

/** Every request of an isolate gets the same object, so a change would reach other requests. */
function frozen(settings: Settings): Settings {
  for (const value of Object.values(settings)) Object.freeze(value);
  return Object.freeze(settings);
}

/** An empty string means "not set": that is how an environment variable is unset in most shells' one-liners. */
function present(source: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(source).filter(([, value]) => value !== ""));
}
