import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const ROOT = path.join(import.meta.dirname, "../../..");
const EXAMPLES = path.join(ROOT, "examples");

const files = readdirSync(EXAMPLES, { recursive: true, withFileTypes: true })
  .filter((file) => file.isFile() && file.name !== "README.md")
  .map((file) => path.relative(EXAMPLES, path.join(file.parentPath, file.name)));

test.each(files)("examples/%s is in the page of its client", (file) => {
  const [client = ""] = file.split(path.sep);
  const page = path.join(ROOT, `docs/doors/${client}.md`);
  expect(existsSync(page)).toBe(true);
  expect(readFileSync(page, "utf8")).toContain(`\n${readFileSync(path.join(EXAMPLES, file), "utf8")}\`\`\``);
});
