// The API reference's start: a file of its own, because the page allows no inline script.
SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  // No validator badge: it would send the document's address to a host of a third party.
  validatorUrl: null,
  // Credentials typed into the page are forgotten with it.
  persistAuthorization: false,
  tryItOutEnabled: true,
  plugins: [plainPaths],
});

/** The path in an operation's button is a link by default: no control may be inside another one. The button opens it, too. */
function plainPaths() {
  const plain = (_original, { React }) => {
    return ({ text }) => React.createElement("span", null, text);
  };
  return { wrapComponents: { DeepLink: plain } };
}

/** What Swagger UI gives no name to, and the names that it gets. */
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

/** Parts of the page that are no landmark otherwise. */
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
  // It follows an h4.
  for (const heading of root.querySelectorAll(".modal-ux h6")) heading.setAttribute("aria-level", "5");
  // Their labels differ from what they show.
  for (const button of root.querySelectorAll(".auth-btn-wrapper [aria-label]")) button.removeAttribute("aria-label");
  // A table is no landmark, and one of many with the same name is of no use.
  for (const table of root.querySelectorAll("table[role='region']")) table.removeAttribute("role");
}

const reference = document.getElementById("reference");
new MutationObserver(() => mend(reference)).observe(reference, { childList: true, subtree: true });
