import type { CommandEnvironment, Shared } from "./commands.ts";
import { usage } from "./failure.ts";
import { text, type Values } from "./values.ts";

/** What commands have in common: the service, the credential, the project and the form of the output. */

/** The URL at which `npm start` serves. */
const DEFAULT_URL = "http://127.0.0.1:8787";

/** Options of commands that need an API key. @throws Failure */
export function sharedOf(values: Values, environment: CommandEnvironment): Shared {
  const { env } = environment;
  const key = credentialOf("key", text(values, "key") ?? keyFrom(env), "TAFFRAIL_API_KEY");
  return {
    ...outputOf(values, environment),
    ...serviceOf(values, env, key),
    project: text(values, "project") || env.TAFFRAIL_PROJECT || null,
    isKeyVisible: text(values, "key") !== null,
  };
}

/**
 * Options of commands that take an API key, or the access token of a member and a workspace. What the command line names
 * precedes the environment, and there a key precedes a token.
 * @throws Failure
 */
export function alertAccessOf(values: Values, environment: CommandEnvironment): Shared & { workspace: string | null } {
  const { env } = environment;
  const [key, token] = [text(values, "key"), text(values, "token")];
  if (key !== null && token !== null) throw usage("--key and --token exclude each other.");
  const isMember = token !== null || (key === null && !keyFrom(env) && Boolean(env.TAFFRAIL_ACCESS_TOKEN));
  if (!isMember) {
    if (key === null && !keyFrom(env)) {
      throw usage("A key is needed: set TAFFRAIL_API_KEY, or TAFFRAIL_ACCESS_TOKEN and TAFFRAIL_WORKSPACE.");
    }
    return { ...sharedOf(values, environment), workspace: null };
  }
  const member = memberOf(values, environment, "--token takes an access token. Give an API key as --key.");
  return { ...member, project: text(values, "project") || env.TAFFRAIL_PROJECT || null };
}

/** Options of commands that need the access token of a member instead of an API key. @throws Failure */
export function memberOf(
  values: Values,
  environment: CommandEnvironment,
  refusal: string,
): Omit<Shared, "project"> & { workspace: string } {
  const { env } = environment;
  const token = credentialOf("token", text(values, "token") ?? env.TAFFRAIL_ACCESS_TOKEN, "TAFFRAIL_ACCESS_TOKEN");
  if (/^sk_/.test(token)) throw usage(refusal);
  const workspace = text(values, "workspace") || env.TAFFRAIL_WORKSPACE;
  if (!workspace) throw usage("A workspace is needed: --workspace ws_..., or TAFFRAIL_WORKSPACE.");
  const isKeyVisible = text(values, "token") !== null;
  return { ...outputOf(values, environment), ...serviceOf(values, env, token), workspace, isKeyVisible };
}

/** Returns the API key of the environment. Version 0.1 of the terminal client used `TAFFRAIL_KEY`. */
export function keyFrom(env: CommandEnvironment["env"]): string | undefined {
  return env.TAFFRAIL_API_KEY?.trim() ? env.TAFFRAIL_API_KEY : env.TAFFRAIL_KEY;
}

function credentialOf(what: "key" | "token", given: string | undefined, setting: string): string {
  const credential = (given ?? "").trim();
  const one = what === "key" ? "A key" : "An access token";
  if (credential === "") throw usage(`${one} is needed: set ${setting}.`);
  // Checked here, because `fetch` repeats an invalid header in its error message.
  if (!/^[\x21-\x7e]+$/.test(credential)) throw usage(`The ${what} contains invalid characters.`);
  return credential;
}

function serviceOf(values: Values, env: CommandEnvironment["env"], key: string): Pick<Shared, "service"> {
  return { service: { url: addressOf(text(values, "url") || env.TAFFRAIL_URL || DEFAULT_URL), key } };
}

function outputOf(values: Values, { env, isTerminal }: CommandEnvironment): Pick<Shared, "json" | "colors"> {
  const colors = values["no-color"] ? false : (values.color ?? (isTerminal && !env.NO_COLOR && env.TERM !== "dumb"));
  return { json: values.json === true, colors: colors === true };
}

function addressOf(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null;
  if (!url || !/^https?:$/.test(url.protocol)) throw usage("--url must be like https://logs.example.com.");
  if (url.username !== "" || url.password !== "") throw usage("--url must not have a user or a password in it.");
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

/** The project of a command that needs one. @throws Failure */
export function projectOf({ project }: Pick<Shared, "project">): string {
  if (project === null) throw usage("A project is needed: --project proj_..., or TAFFRAIL_PROJECT.");
  return project;
}
