import { readFileSync, writeFileSync } from "node:fs";

/** Puts results between the marks of a page of the documentation, so that it shows those of the run last published. */
export function publish(page: string, results: string): void {
  const block = /(<!-- results -->\n)[\s\S]*?(\n<!-- \/results -->)/;
  const docs = readFileSync(page, "utf8");
  if (!block.test(docs)) throw new Error(`${page} has no place for results.`);
  writeFileSync(
    page,
    docs.replace(block, (_all, open, close) => `${open}${results}${close}`),
  );
}
