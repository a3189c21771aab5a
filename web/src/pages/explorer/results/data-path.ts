/** A name that needs no quotes in a path. */
const BARE = /^[^.[\]]+$/;

/** Writes the path of a member of `data` as filters accept it: `user.plan`, `items.0.id`, `["a.b"].c`. */
export function writePath(names: readonly string[]): string {
  let path = "";
  for (const name of names) {
    if (!BARE.test(name)) path += `[${JSON.stringify(name)}]`;
    else path += path === "" ? name : `.${name}`;
  }
  return path;
}
