/**
 * Returns the path of a link in a document; `null` for a file of the repository that the service does not serve.
 * @param base address of the document
 */
export function consolePath(href: string, base: string): string | null {
  if (href.startsWith("#")) return href;
  const { pathname, hash } = new URL(href, base);
  return /^\/docs(?:\/.+\.md)?$/.test(pathname) ? `${pathname}${hash}` : null;
}

/** Returns a function that names headings as GitHub does, for which the links of the documents are written: each name once. */
export function anchorsOf(): (heading: string) => string {
  const used = new Map<string, number>();
  return (heading) => {
    const name = heading
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replaceAll(/\s/g, "-");
    const before = used.get(name) ?? 0;
    used.set(name, before + 1);
    return before === 0 ? name : `${name}-${before}`;
  };
}

/** Returns the name in a tag that only marks a place, as the reference of the client library has for members. */
export function anchorIn(html: string): string | null {
  return /^<a id="([^"]+)">$/.exec(html)?.[1] ?? null;
}
