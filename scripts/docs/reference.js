// Shows the API reference in a page of the console, which loads this file when it is opened: Swagger UI is larger than the
// rest of the console together.

let loading;

/** Loads Swagger UI once, with its styles. A failed load is repeated by the next call. */
function loadSwagger() {
  loading ??= Promise.all([
    added("script", { src: "/docs/swagger-ui-bundle.js" }),
    added("link", { rel: "stylesheet", href: "/docs/swagger-ui.css" }),
  ]).catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

/** Adds an element to the head, and waits until its file is loaded. */
function added(tag, attributes) {
  return new Promise((resolve, reject) => {
    const element = Object.assign(document.createElement(tag), attributes, { onload: resolve, onerror: reject });
    document.head.append(element);
  });
}

/** Draws the reference into an element. It has the operation that the address names, and no credentials. */
export async function showReference(root) {
  await loadSwagger();
  new MutationObserver(() => mend(root)).observe(root, { childList: true, subtree: true });
  SwaggerUIBundle({
    url: "/openapi.json",
    domNode: root,
    deepLinking: true,
    // Closed at first: from 150 rows on, Swagger UI renders only those on the screen, and the browser finds no text in the others.
    docExpansion: "none",
    // No validator badge, which would send the document's address to a third party.
    validatorUrl: null,
    // Credentials entered in the page are not stored.
    persistAuthorization: false,
    tryItOutEnabled: true,
    layout: "PlainLayout",
    plugins: [plainLayout, plainPaths, plainLines, localReferences, usableCredentials],
  });
}

/** The layout of Swagger UI without its main element, because it is shown in the console's. */
function plainLayout() {
  return {
    afterLoad({ React }) {
      const plain = (node) => {
        if (!React.isValidElement(node)) return node;
        const parts = React.Children.map(node.props.children, plain);
        if (node.type === "main") return React.createElement("div", node.props, parts);
        return parts ? React.cloneElement(node, {}, parts) : node;
      };
      // The component itself, which is the first of an array if others wrap it.
      const [Layout] = [this.components.BaseLayout].flat();
      this.components.PlainLayout = class extends Layout {
        render() {
          return plain(super.render());
        }
      };
    },
  };
}

/**
 * By default the path in an operation's button is a link, but controls must not be nested. The button opens it, too.
 */
function plainPaths() {
  const plain = (_original, { React }) => {
    return ({ text }) => React.createElement("span", null, text);
  };
  return { wrapComponents: { DeepLink: plain } };
}

/** Shows an example of NDJSON as it is. Swagger UI would quote it as one JSON string, by the media type's name. */
function plainLines() {
  return {
    afterLoad() {
      const { getSampleSchema } = this.fn;
      this.fn.getSampleSchema = (schema, mediaType, config, example) =>
        /ndjson/.test(mediaType) && typeof example === "string"
          ? example
          : getSampleSchema(schema, mediaType, config, example);
    },
  };
}

/**
 * Resolves the references of an operation when it is opened, and merges `allOf`, from which Swagger UI makes no example. All
 * references are local and none is circular. Swagger UI would parse the whole document for each operation, which blocks the page
 * for seconds.
 */
function localReferences() {
  const valueAt = (spec, path) => path.reduce((value, name) => value?.[name], spec);
  const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  const merged = (a, b) => {
    if (!isObject(a) || !isObject(b)) return b;
    const both = Object.entries(b).map(([name, member]) => [name, name in a ? merged(a[name], member) : member]);
    return { ...a, ...Object.fromEntries(both) };
  };
  const resolved = (spec, value) => {
    if (Array.isArray(value)) return value.map((item) => resolved(spec, item));
    if (!isObject(value)) return value;
    if (typeof value.$ref === "string") return resolved(spec, valueAt(spec, value.$ref.slice(2).split("/")));
    const { allOf = [], ...own } = value;
    const members = Object.entries(own).map(([name, member]) => [name, resolved(spec, member)]);
    return [...allOf.map((part) => resolved(spec, part)), Object.fromEntries(members)].reduce(merged);
  };
  const resolveSubtree = async (spec, path) => ({ spec: resolved(spec, valueAt(spec, path)), errors: [] });
  return { fn: { resolveSubtree } };
}

/**
 * The dialog of credentials has no form for OAuth 2. This page is no registered client and has no redirect address, so the
 * form could only fail. A token of a grant can be entered as an API key, because both are sent in the same header.
 */
function usableCredentials() {
  const isUsable = (definition) => definition.every((scheme) => scheme.get("type") !== "oauth2");
  const usable =
    (original) =>
    (_state, ...rest) =>
      original(...rest)?.filter(isUsable);
  return { statePlugins: { auth: { wrapSelectors: { definitionsToAuthorize: usable } } } };
}

/** Elements without an accessible name in Swagger UI, and their names. */
const NAMES = [
  ["#servers", () => "Server"],
  [".close-modal", () => "Close"],
  [".body-param textarea", () => "Request body"],
  [
    "tr[data-param-name] :is(select, textarea, input:not([type='checkbox']))",
    (control) => control.closest("tr").dataset.paramName,
  ],
  [".information-container", () => "About the API"],
  [".schemes-server-container", () => "Server and credentials"],
  [".modal-ux", () => "Credentials"],
];

/** Roles of parts of the page: its landmarks, by which users of screen readers move, and its dialog. */
const ROLES = [
  [".information-container, .schemes-server-container", "region"],
  [".modal-ux", "dialog"],
];

function mend(root) {
  for (const [selector, nameOf] of NAMES) {
    for (const part of root.querySelectorAll(selector)) part.setAttribute("aria-label", nameOf(part));
  }
  for (const [selector, role] of ROLES) {
    for (const part of root.querySelectorAll(selector)) part.setAttribute("role", role);
  }
  // Long examples scroll, also by keyboard.
  for (const example of root.querySelectorAll(".microlight")) example.tabIndex = 0;
  // Level 5, because the heading before it is an h4.
  for (const heading of root.querySelectorAll(".modal-ux h6")) heading.setAttribute("aria-level", "5");
  // Their labels differ from their visible text.
  for (const button of root.querySelectorAll(".auth-btn-wrapper [aria-label]")) button.removeAttribute("aria-label");
  // A table is not a landmark, and many of them have the same name.
  for (const table of root.querySelectorAll("table[role='region']")) table.removeAttribute("role");
}
