// Shows the API reference in a page of the console, which loads this file when it is opened: Swagger UI is larger than the
// rest of the console together.

/** With the query of this file's own address, because the browser keeps the failure of a module. */
const PLUGINS = `./reference-plugins.js${new URL(import.meta.url).search}`;

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

/**
 * Draws the reference into an element. It has the operation that the address names, and no credentials.
 * @param drawSelect draws the console's select into an element, and removes it for `null`
 * @returns what the contents beside it need: groups with their operations, which of them are open, and ways to open them
 */
export async function showReference(root, drawSelect) {
  const [spec, , { pluginsOf }] = await Promise.all([loadDocument(), loadSwagger(), import(PLUGINS)]);
  new MutationObserver(() => mend(root)).observe(root, { childList: true, subtree: true });
  const system = SwaggerUIBundle({
    spec,
    domNode: root,
    deepLinking: true,
    // Closed at first: from 150 rows on, Swagger UI renders only those on the screen, and the browser finds no text in the others.
    docExpansion: "none",
    // No validator badge, which would send the document's address to a third party.
    validatorUrl: null,
    // Credentials entered in the page are not stored.
    persistAuthorization: false,
    layout: "PlainLayout",
    plugins: pluginsOf(drawSelect),
  });
  return handleOf(system, spec);
}

async function loadDocument() {
  const response = await fetch("/openapi.json");
  if (!response.ok) throw new Error(`/openapi.json was answered with ${response.status}.`);
  return response.json();
}

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

function handleOf(system, spec) {
  const groups = new Map(spec.tags.map(({ name }) => [name, []]));
  for (const [path, item] of Object.entries(spec.paths)) {
    for (const method of METHODS.filter((name) => name in item)) {
      const { operationId: id, tags, summary } = item[method];
      for (const tag of tags)
        groups.get(tag)?.push({ id, method, path, summary, anchor: anchorOf("operations", tag, id) });
    }
  }
  // Not the action, which would put each step into the history.
  const show = (...thing) => system.getStore().dispatch({ type: "layout_show", payload: { thing, shown: true } });
  return {
    groups: [...groups].map(([name, operations]) => ({
      name,
      operations,
      anchor: anchorOf("operations-tag", name),
    })),
    isOpen: (group) => system.layoutSelectors.isShown(["operations-tag", group], false),
    /** Opens a group or an operation in it. */
    open(group, operation) {
      show("operations-tag", group);
      if (operation === undefined) return;
      show("operations", group, operation);
      // For the case that only operations on the screen are rendered.
      if (document.getElementById(anchorOf("operations", group, operation)) === null) {
        system.layoutActions.scrollToVirtualizedOperation(["operations", group, operation]);
      }
    },
    /** Calls a function after each change. @returns a function that ends it */
    onChange: (listener) => system.getStore().subscribe(listener),
  };
}

/** The id of a group's or an operation's element. */
function anchorOf(...names) {
  return CSS.escape(names.join("-").trim().replace(/\s/g, "_"));
}

/** Elements without an accessible name in Swagger UI, and their names. */
const NAMES = [
  [".close-modal", () => "Close"],
  [".body-param textarea", () => "Request body"],
  [
    "tr[data-param-name] :is([role='combobox'], textarea, input:not([type='checkbox']))",
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
