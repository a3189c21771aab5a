import { Ajv2020, type AnySchema, type ValidateFunction } from "ajv/dist/2020.js";

/** A JSON Schema of the document, as far as the tests read it. */
export interface Schema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  propertyNames?: Schema;
  items?: Schema;
  pattern?: string;
  format?: string;
  examples?: unknown[];
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  maxProperties?: number;
  $ref?: string;
}

interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  allowEmptyValue?: boolean;
  example?: unknown;
  schema: Schema;
}

interface RawOperation {
  operationId: string;
  security?: Record<string, unknown>[];
  parameters?: (Parameter | { $ref: string })[];
  requestBody?: { required: boolean; content: Record<string, { schema: Schema; example?: unknown }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

export interface Operation {
  id: string;
  method: string;
  /** As documented: `/projects/{projectId}`. */
  path: string;
  credential: "none" | "accessToken" | "apiKey" | "operatorToken";
  parameters: Parameter[];
  body: { required: boolean; schemas: Record<string, Schema>; examples: Record<string, unknown> } | null;
  /** Whether the schema of a media type accepts a value. */
  acceptsBody(mediaType: string, value: unknown): boolean;
  /** Whether the schema of a parameter accepts a value, parsed from its text. */
  acceptsParameter(parameter: Parameter, values: readonly string[]): boolean;
  /** Returns what is wrong with a response, or `null` if it is as documented. */
  answerFault(status: number, body: unknown): string | null;
}

interface OpenApi {
  paths: Record<string, Record<string, RawOperation>>;
  components: { parameters: Record<string, Parameter> };
}

const METHODS = ["get", "post", "put", "patch", "delete"];

/** Every operation of the server's document, with compiled schemas. */
export async function operationsOf(url: string): Promise<Operation[]> {
  const answer = await fetch(`${url}/openapi.json`);
  // SAFETY: the types name only the members of the document that are read here.
  const document = (await answer.json()) as OpenApi;
  // Formats are annotations in JSON Schema 2020-12, so the other keywords must define what is accepted.
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false, logger: false });
  // SAFETY: only the targets of its references are read as schemas.
  ajv.addSchema(document as AnySchema, "openapi");
  const operations: Operation[] = [];
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, raw] of Object.entries(item)) {
      if (METHODS.includes(method)) operations.push(operation(document, ajv, path, method, raw));
    }
  }
  return operations;
}

function operation(document: OpenApi, ajv: Ajv2020, path: string, method: string, raw: RawOperation): Operation {
  const compiled = new Map<string, ValidateFunction>();
  const validator = (...place: string[]): ValidateFunction => {
    const pointer = ["paths", path, method, ...place].map(pointerPart).join("/");
    const known = compiled.get(pointer) ?? ajv.compile({ $ref: `openapi#/${pointer}` });
    compiled.set(pointer, known);
    return known;
  };
  const given = raw.parameters ?? [];
  const parameters = given.map((parameter) =>
    "$ref" in parameter ? componentOf(document, parameter.$ref) : parameter,
  );
  const schemes = (raw.security ?? []).flatMap((each) => Object.keys(each));
  const body = raw.requestBody;
  return {
    id: raw.operationId,
    method: method.toUpperCase(),
    path,
    credential: (["operatorToken", "apiKey", "accessToken"] as const).find((name) => schemes.includes(name)) ?? "none",
    parameters,
    body: body
      ? {
          required: body.required,
          schemas: Object.fromEntries(Object.entries(body.content).map(([type, { schema }]) => [type, schema])),
          examples: Object.fromEntries(Object.entries(body.content).map(([type, { example }]) => [type, example])),
        }
      : null,
    acceptsBody: (mediaType, value) => validator("requestBody", "content", mediaType, "schema")(value) === true,
    acceptsParameter(parameter, values) {
      const index = parameters.indexOf(parameter);
      const place = given[index];
      if (values.length === 0) return parameter.required !== true;
      if (values.length === 1 && values[0] === "" && parameter.allowEmptyValue) return true;
      const validate =
        place && "$ref" in place
          ? ajv.compile({ $ref: `openapi${place.$ref}/schema` })
          : validator("parameters", String(index), "schema");
      return readings(values).some((value) => validate(value) === true);
    },
    answerFault(status, value) {
      const response = raw.responses[String(status)];
      if (!response) return `status ${status} is not documented`;
      if (!response.content) return null;
      if (!response.content["application/json"]) return value === null ? null : `${status}: JSON is not documented`;
      const validate = validator("responses", String(status), "content", "application/json", "schema");
      if (validate(value)) return null;
      const [error] = validate.errors ?? [];
      return `${status}: ${error?.instancePath} ${error?.message} ${JSON.stringify(error?.params)}`;
    },
  };
}

/**
 * The values that a parameter's text may represent: the text itself, an integer in decimal, a list if it is repeated.
 */
function readings(values: readonly string[]): unknown[] {
  const [text = ""] = values;
  if (values.length > 1) return [[...values]];
  return /^-?\d+$/.test(text) ? [Number(text), text] : [text];
}

function componentOf(document: OpenApi, ref: string): Parameter {
  const found = document.components.parameters[ref.split("/").at(-1) ?? ""];
  if (!found) throw new Error(`There is no ${ref}.`);
  return found;
}

function pointerPart(part: string): string {
  return encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"));
}
