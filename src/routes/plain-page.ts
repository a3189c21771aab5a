/** A page that the worker writes itself, in the style of `scripts/pages/account.css`. */
export interface PlainPage {
  title: string;
  /** HTML of the page's `<main>`, behind the brand. */
  main: string;
  /** Attributes of `<body>`, as HTML. */
  attributes?: string;
  /** A module of this origin. Without it the page may load no script and connect to nothing. */
  script?: string;
  /** Beside those of every such page. */
  headers: Readonly<Record<string, string>>;
}

/** Nothing but this origin's own style, and script where there is one; nothing framed, nothing submitted without the script. */
function policy(hasScript: boolean): string {
  return [
    "default-src 'none'",
    ...(hasScript ? ["script-src 'self'", "connect-src 'self'"] : []),
    "style-src 'self'",
    // The empty icon.
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

export function plainPage({ title, main, attributes = "", script, headers }: PlainPage): Response {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Taffrail</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/pages/account.css">
</head>
<body${attributes === "" ? "" : ` ${attributes}`}>
<main>
<p class="brand">Taffrail</p>
${main}
</main>
${script === undefined ? "" : `<script type="module" src="${script}"></script>\n`}</body>
</html>
`;
  return new Response(html, {
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": policy(script !== undefined),
      "Referrer-Policy": "no-referrer",
      ...headers,
    },
  });
}
