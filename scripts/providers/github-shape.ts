import type Provider from "oidc-provider";
import { type LocalProvider, type ProviderOptions, startIdentityProvider } from "./identity-provider.ts";
import type { People, Person } from "./people.ts";

const AUTHORIZE_PATH = "/login/oauth/authorize";
const TOKEN_PATH = "/login/oauth/access_token";

/** GitHub's texts for errors of the token endpoint. */
const TOKEN_ERRORS: Readonly<Record<string, string>> = {
  invalid_grant: "bad_verification_code",
  invalid_client: "incorrect_client_credentials",
};

type Shaped = Pick<ProviderOptions, "host" | "port" | "client">;

/** Endpoints of the provider as settings of the service. */
export interface GithubShapedProvider extends LocalProvider {
  authorizeUrl: string;
  tokenUrl: string;
  apiUrl: string;
}

/**
 * A provider with GitHub's API, as strict as the authorization server below it: no ID token, errors of the token
 * endpoint with status 200, JSON only if requested, and a REST API that identifies the user.
 */
export async function startGithubShapedProvider(options: Shaped): Promise<GithubShapedProvider> {
  const started = await startIdentityProvider({
    ...options,
    title: "Local provider A (like GitHub)",
    scopes: ["read:user", "user:email"],
    configuration: {
      routes: { authorization: AUTHORIZE_PATH, token: TOKEN_PATH },
      claims: {},
      features: { devInteractions: { enabled: false }, userinfo: { enabled: false } },
    },
    extend: (provider, people) => {
      provider.use(shapeAnswers);
      provider.use(api(provider, people));
    },
  });
  const { url } = started;
  return { ...started, authorizeUrl: url + AUTHORIZE_PATH, tokenUrl: url + TOKEN_PATH, apiUrl: url };
}

type Middleware = Parameters<Provider["use"]>[0];

const shapeAnswers: Middleware = async (context, next) => {
  await next();
  const location = context.response.get("Location");
  if (location !== "" && URL.canParse(location)) {
    const url = new URL(location);
    url.searchParams.delete("iss");
    if (url.searchParams.has("state")) context.set("Location", url.href);
  }
  if (context.path !== TOKEN_PATH) return;
  const { body } = context;
  if (typeof body !== "object" || body === null) return;
  const shaped: Record<string, unknown> = { ...body };
  if (typeof shaped.error === "string") {
    shaped.error = TOKEN_ERRORS[shaped.error] ?? shaped.error;
    context.remove("WWW-Authenticate");
    context.status = 200;
  }
  if (context.get("Accept").includes("application/json")) context.body = shaped;
  else {
    const form = Object.entries(shaped).map(([name, value]): [string, string] => [name, String(value)]);
    context.body = new URLSearchParams(form).toString();
    context.type = "application/x-www-form-urlencoded";
  }
};

function api(provider: Provider, people: People): Middleware {
  return async (context, next) => {
    if (context.path !== "/user" && context.path !== "/user/emails") return next();
    if (context.get("User-Agent") === "") return respond(context, 403, { message: "Request forbidden" });
    const token = await provider.AccessToken.find(context.get("Authorization").replace(/^Bearer /, ""));
    const person = token?.accountId === undefined ? undefined : people.find(token.accountId);
    if (!token || !person) return respond(context, 401, { message: "Bad credentials" });
    if (context.path === "/user") return respond(context, 200, userOf(person));
    const granted = token.scopes.has("user:email");
    return respond(context, granted ? 200 : 404, granted ? emailsOf(person) : { message: "Not Found" });
  };
}

function respond(context: Parameters<Middleware>[0], status: number, body: object): void {
  context.status = status;
  context.body = body;
}

function userOf({ subject, email, name }: Person): object {
  return { id: Number(subject), login: email.split("@")[0], name, email: null, type: "User" };
}

/**
 * Besides the primary address, addresses that must be ignored: a verified one that is not primary, and an unverified
 * one.
 */
function emailsOf({ subject, email, emailVerified }: Person): object[] {
  return [
    { email: `${subject}@users.noreply.example.com`, primary: false, verified: true, visibility: null },
    { email: `unverified-${email}`, primary: false, verified: false, visibility: null },
    { email, primary: true, verified: emailVerified, visibility: "private" },
  ];
}
