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

/**
 * Draws the reference into an element. It has the operation that the address names, and no credentials.
 * @param drawSelect draws the console's select into an element, and removes it for `null`
 * @returns what the contents beside it need: groups with their operations, which of them are open, and ways to open them
 */
export async function showReference(root, drawSelect) {
  const [spec] = await Promise.all([loadDocument(), loadSwagger()]);
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
    plugins: [
      plainLayout,
      plainPaths,
      plainLines,
      localReferences,
      usableCredentials,
      steadyAddress,
      controlsOfConsole(drawSelect),
    ],
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

/** Buttons for the form of an operation would clear the address or repeat it in the history, and a scroll would end behind the header. */
function steadyAddress() {
  const steady =
    (original) =>
    (_state, key, ...rest) =>
      key.length > 3 ? [] : original(key, ...rest);
  // The console scrolls, below its header and until the user does.
  const still = () => () => ({ type: "scroll_of_console" });
  return {
    statePlugins: {
      layout: { wrapSelectors: { urlHashArrayFromIsShownKey: steady }, wrapActions: { scrollToElement: still } },
    },
  };
}

/** Text for no value in a list of values. */
const NOT_SET = "Not set";

/** Selects of the console in place of the browser's, plain text where there is one choice, and a quiet button for the form. */
function controlsOfConsole(drawSelect) {
  return ({ React }) => {
    const { createElement: h, useEffect, useId, useRef } = React;

    /** @param choice properties of the console's select */
    function Choice(choice) {
      const host = useRef(null);
      // The console numbers its own elements from 0 in each part that is drawn separately.
      const id = `choice-${useId().replace(/\W/g, "")}`;
      useEffect(() => drawSelect(host.current, { id, ...choice }));
      useEffect(() => {
        const element = host.current;
        // Within a label, a click on an option would be one on the select, too.
        const keep = (event) => event.preventDefault();
        element.addEventListener("click", keep);
        return () => {
          element.removeEventListener("click", keep);
          drawSelect(element, null);
        };
      }, []);
      return h("span", { ref: host, className: "choice" });
    }

    /** Values without an order or labels, of which one is chosen. */
    function oneOf(values, choice) {
      if (values.length === 1) return h("code", { className: "only-choice" }, values[0]);
      return h(Choice, { ...choice, small: true, options: values.map((value) => ({ value, label: value })) });
    }

    function ContentType({ contentTypes, value, onChange, className = "", ariaLabel }) {
      const types = contentTypes?.toArray() ?? [];
      useEffect(() => {
        if (types.length > 0 && !types.includes(value)) onChange?.(types[0]);
      });
      if (types.length === 0) return null;
      return h(
        "div",
        { className: `content-type-wrapper ${className}` },
        oneOf(types, { value: value || types[0], onChange: (type) => onChange?.(type), label: ariaLabel }),
      );
    }

    function Servers({ servers, currentServer, setSelectedServer }) {
      const urls = servers.map((server) => server.get("url")).toArray();
      useEffect(() => {
        if (!urls.includes(currentServer)) setSelectedServer(urls[0]);
      });
      return h(
        "div",
        { className: "servers" },
        oneOf(urls, { value: currentServer || urls[0], onChange: setSelectedServer, label: "Server" }),
      );
    }

    /** A value of a parameter. Its accessible name is set with those of the other fields. */
    function Select({ allowedValues, value, onChange, allowEmptyValue = true, disabled }) {
      // The form is closed, and the values are listed in the description.
      if (disabled) return null;
      const values = [...allowedValues].map(String);
      const options = values.map((each) => ({ value: each, label: each }));
      if (allowEmptyValue) options.unshift({ value: "", label: NOT_SET });
      return h(Choice, { value: String(value ?? ""), options, onChange: (chosen) => onChange?.(chosen) });
    }

    function TryItOutButton({ enabled, hasUserEditedBody, onTryoutClick, onCancelClick, onResetClick }) {
      const button = (text, onClick) => h("button", { type: "button", className: "btn try-out__btn", onClick }, text);
      return h(
        "div",
        { className: "try-out" },
        enabled && hasUserEditedBody ? button("Reset", onResetClick) : null,
        enabled ? button("Close form", onCancelClick) : button("Try it", onTryoutClick),
      );
    }

    return {
      components: { Select, TryItOutButton, contentType: ContentType },
      // By wrapping, because it is registered by a plugin that comes later.
      wrapComponents: { Servers: () => Servers },
    };
  };
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
