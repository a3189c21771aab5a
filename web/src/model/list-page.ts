/** Largest page of the API's lists. */
const LIST_PAGE = 200;

/** The path of a page of a list. @param cursor `null` for the first page */
export function listPagePath(path: string, cursor: string | null): string {
  return `${path}?${new URLSearchParams({ limit: String(LIST_PAGE), ...(cursor === null ? {} : { cursor }) })}`;
}
