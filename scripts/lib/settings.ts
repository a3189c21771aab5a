import path from "node:path";
import { z } from "zod";
import { isLoopback } from "../../src/platform/loopback.ts";
import { settingsProblems, settingsSchema } from "../../src/settings.ts";
import { StartFailure } from "./failure.ts";
import { ROOT } from "./paths.ts";
import { isLoopbackHost } from "./port.ts";

const port = z
  .string()
  .regex(/^\d{1,5}$/, "must be a whole number")
  .transform(Number)
  .refine((number) => number <= 65_535, "must be between 0 and 65535");

/** Settings of `npm start` itself. */
const startSchema = z.object({
  /** 0 uses a free port. */
  PORT: port.default(8787),
  /** Port of 127.0.0.1 for the runtime's inspector, for DevTools and measurements. Unset: no inspector. */
  INSPECTOR_PORT: port.optional(),
  HOST: z
    .string()
    .regex(/^[A-Za-z0-9.:_-]+$/, "must be an address or a host name, without a port or brackets")
    .default("127.0.0.1"),
  /** Bytes of free disk below which no entries are accepted; 0 disables the check. */
  MIN_FREE_BYTES: z
    .string()
    .regex(/^\d{1,15}$/, "must be a whole number of bytes")
    .transform(Number)
    .default(268_435_456),
  DATA_DIR: z
    .string()
    .default(".data")
    .transform((directory) => path.resolve(ROOT, directory)),
});

export type StartSettings = z.output<typeof startSchema>;

/** Names of the worker's settings, which the environment of `npm start` may override. */
export const WORKER_SETTING_NAMES: readonly string[] = Object.keys(settingsSchema.in.shape);

/** The settings of `npm start`. @throws StartFailure with the name of each invalid one */
export function startSettings(env: NodeJS.ProcessEnv): StartSettings {
  const result = startSchema.safeParse(pick(env, Object.keys(startSchema.shape)));
  if (result.success) return result.data;
  throw badSettings(result.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`));
}

/** The worker's settings in the environment, as strings like those of `[vars]`. */
export function workerOverrides(env: NodeJS.ProcessEnv): Record<string, string> {
  return pick(env, WORKER_SETTING_NAMES);
}

/** @throws StartFailure with the name of each setting that the worker would refuse */
export function checkWorkerSettings(bindings: Record<string, unknown>): void {
  const problems = settingsProblems(bindings);
  if (problems.length > 0) throw badSettings(problems);
}

interface DeployRequirement {
  isMet: (bindings: Record<string, unknown>) => boolean;
  message: string;
}

/** Requirements of a deployment beyond the schema's, by setting. */
const DEPLOY_REQUIREMENTS: Readonly<Record<string, DeployRequirement>> = {
  BASE_URL: {
    isMet: ({ BASE_URL }) => isSet(BASE_URL) && !isLoopbackUrl(BASE_URL),
    message: "must be the public address, e.g. https://taffrail.<your-subdomain>.workers.dev",
  },
  MAILER: {
    isMet: ({ MAILER }) => isSet(MAILER) && MAILER !== "outbox",
    message: "must be cloudflare or resend; outbox would show every mail to every caller",
  },
  MAIL_FROM: {
    isMet: ({ MAIL_FROM }) => isSet(MAIL_FROM),
    message: "is required: the sender of mails, e.g. Taffrail <logs@example.com>",
  },
  RESEND_API_KEY: {
    isMet: ({ MAILER, RESEND_API_KEY }) => MAILER !== "resend" || isSet(RESEND_API_KEY),
    message: "is required with MAILER=resend",
  },
};

/**
 * Checks the settings of a deployment.
 * @throws StartFailure that names every missing or invalid setting
 */
export function checkDeploySettings(bindings: Record<string, unknown>): void {
  const unmet = Object.entries(DEPLOY_REQUIREMENTS).filter(([, { isMet }]) => !isMet(bindings));
  const named = new Set(unmet.map(([name]) => name));
  // One line for each setting, because the schema may have named the same one.
  const others = settingsProblems(bindings).filter((problem) => !named.has(problem.slice(0, problem.indexOf(":"))));
  const problems = [...unmet.map(([name, { message }]) => `${name}: ${message}`), ...others];
  if (problems.length > 0) throw badSettings(problems);
}

function isSet(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isLoopbackUrl(text: string): boolean {
  return URL.canParse(text) && isLoopback(new URL(text));
}

/**
 * Refuses the outbox on a reachable host. The outbox shows every mail with live links to callers that use a loopback
 * name, which any caller can send, so only an unreachable server protects it.
 * @throws StartFailure if other machines could reach it
 */
export function refuseOpenOutbox(host: string, bindings: Record<string, unknown>): void {
  const mailer = bindings.MAILER || "outbox";
  if (mailer !== "outbox" || isLoopbackHost(host)) return;
  throw new StartFailure(
    `HOST=${host} is reachable by other machines, which could read every mail at /dev/outbox with MAILER=outbox. Keep HOST=127.0.0.1, or set MAILER to resend or cloudflare.`,
  );
}

function badSettings(problems: readonly string[]): StartFailure {
  const head = problems.length === 1 ? "1 setting is invalid." : `${problems.length} settings are invalid.`;
  return new StartFailure([head, ...problems.map((problem) => `  ${problem}`)].join("\n"));
}

/** An empty value counts as unset, as everywhere in the settings. */
function pick(env: NodeJS.ProcessEnv, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = env[name];
    if (value !== undefined && value !== "") picked[name] = value;
  }
  return picked;
}
