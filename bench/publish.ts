import { readFileSync, writeFileSync } from "node:fs";

/** Writes results between the marks of a documentation page, so that it shows the last published run. */
export function publish(page: string, results: string): void {
  const block = /(<!-- results -->\n)[\s\S]*?(\n<!-- \/results -->)/;
  const docs = readFileSync(page, "utf8");
  if (!block.test(docs)) throw new Error(`${page} has no place for results.`);
  writeFileSync(
    page,
    docs.replace(block, (_all, open, close) => `${open}${results}${close}`),
  );
}
