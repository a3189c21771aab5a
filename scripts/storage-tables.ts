/** `npm run docs:tables`: writes the tables of docs/storage.md and docs/storage-accounts.md from the DDL's comments. */
import { readFileSync, writeFileSync } from "node:fs";
import { DOCUMENTS, documentPath, withTables } from "./lib/storage-tables.ts";

for (const document of DOCUMENTS) {
  const file = documentPath(document);
  writeFileSync(file, withTables(document, readFileSync(file, "utf8")));
}
