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
});
