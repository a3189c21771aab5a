// What the API reference changes in Swagger UI: its layout and controls, how it reads the document, and its address.

/** @param drawSelect draws the console's select into an element, and removes it for `null` */
export function pluginsOf(drawSelect) {
  return [
    plainLayout,
    plainPaths,
    plainLines,
    localReferences,
    usableCredentials,
    steadyAddress,
    controlsOfConsole(drawSelect),
  ];
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
