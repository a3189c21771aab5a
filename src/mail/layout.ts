/** The parts of a letter: its text and at most one action. */
export interface Layout {
  title: string;
  paragraphs: string[];
  action: { label: string; href: string } | null;
  /** Small print below the button. */
  after: string[];
  /** The service's host, for the footer. */
  site: string;
}

const SIGNATURE = (site: string): string => `Taffrail, structured logs · ${site}`;

export function renderText({ title, paragraphs, action, after, site }: Layout): string {
  const link = action ? [`${action.label}:\n${action.href}`] : [];
  return `${[title, ...paragraphs, ...link, ...after, `-- \n${SIGNATURE(site)}`].join("\n\n")}\n`;
}

const FONT = "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Helvetica,Arial,sans-serif";
/** Names and addresses may be one long word. Mail programs without the first property support the second. */
const WRAP = "overflow-wrap:anywhere;word-break:break-word";
const BODY = `margin:0;${WRAP};font-size:16px;line-height:24px;color:#1f2a37;${FONT}`;
const SMALL = `margin:0 0 8px;font-size:13px;line-height:20px;color:#5b6776;${FONT}`;

/**
 * Renders a letter as HTML for mail programs: tables and inline styles, no images, no style sheets, no external
 * resources. The link is also written out, for programs that show no button.
 */
export function renderHtml({ title, paragraphs, action, after, site }: Layout): string {
  const text = paragraphs.map((line) => `<p style="${BODY};padding:0 0 16px">${escapeHtml(line)}</p>`).join("");
  const button = action ? buttonHtml(action.label, action.href) : "";
  const small = after.map((line) => `<p style="${SMALL}">${escapeHtml(line)}</p>`).join("");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light">
<meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no">
<title>${escapeHtml(title)}</title>
</head>
<body style="margin:0;padding:0;background:#eef1f4">
<div style="display:none;max-height:0;overflow:hidden">${escapeHtml(paragraphs[0] ?? "")}</div>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="background:#eef1f4">
<tr><td align="center" style="padding:32px 16px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:520px">
<tr><td style="padding:0 8px 16px;font-size:15px;line-height:20px;font-weight:600;color:#12445c;${FONT}">Taffrail</td></tr>
<tr><td style="background:#ffffff;border:1px solid #d9dfe5;border-radius:8px;padding:32px">
<h1 style="margin:0 0 16px;${WRAP};font-size:22px;line-height:30px;font-weight:600;color:#12202e;${FONT}">${escapeHtml(title)}</h1>
${text}${button}${small}</td></tr>
<tr><td style="padding:16px 8px 0;font-size:12px;line-height:18px;color:#5b6776;${FONT}">${escapeHtml(SIGNATURE(site))}</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`;
}

function buttonHtml(label: string, href: string): string {
  const link = escapeHtml(href);
  return `<table role="presentation" cellpadding="0" cellspacing="0" style="margin:8px 0 24px">
<tr><td style="background:#12607f;border-radius:6px"><a href="${link}" style="display:inline-block;padding:12px 24px;font-size:16px;line-height:24px;font-weight:600;color:#ffffff;text-decoration:none;${FONT}">${escapeHtml(label)}</a></td></tr>
</table>
<p style="${SMALL}">Or open this address:<br><a href="${link}" style="color:#12607f;word-break:break-all">${link}</a></p>
`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes text for element content and quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}
