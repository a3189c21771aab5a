import type { Settings } from "./runtime.ts";

/** Variables by name, as `process.env` has them. */
export type Variables = Readonly<Record<string, unknown>>;

/** Reads options from `TAFFRAIL_*` and from OpenTelemetry's variables. An empty variable counts as not set. */
export function settingsOf(variables: Variables): Settings {
  const attributes = attributesOf(read("OTEL_RESOURCE_ATTRIBUTES"));

  function read(name: string): string | undefined {
    const value = variables[name];
    return (typeof value === "string" && value) || undefined;
  }

  return {
    apiUrl: read("TAFFRAIL_URL"),
    projectId: read("TAFFRAIL_PROJECT"),
    apiKey: read("TAFFRAIL_API_KEY"),
    service: read("TAFFRAIL_SERVICE") ?? read("OTEL_SERVICE_NAME") ?? attributes.get("service.name"),
    version: read("TAFFRAIL_VERSION") ?? attributes.get("service.version"),
    environment:
      read("TAFFRAIL_ENVIRONMENT") ??
      attributes.get("deployment.environment.name") ??
      attributes.get("deployment.environment"),
    host: read("TAFFRAIL_HOST") ?? attributes.get("host.name"),
  };
}

/** Parses `service.name=shop,service.version=1.2`. Values are percent-encoded. */
function attributesOf(list = ""): ReadonlyMap<string, string> {
  return new Map(
    list.split(",").map((pair) => {
      const [name = "", value = ""] = pair.split(/=(.*)/s);
      return [name.trim(), decoded(value.trim())];
    }),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
