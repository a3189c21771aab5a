import { expect, it } from "vitest";
import { fileKey, filePrefix, readFileKey } from "../../../src/logs/cold/format/file-key.ts";

const NAME = { workspaceId: "ws_1", projectId: "proj_1", firstSeq: 4096, part: 17, hash: "0123456789abcdef" };

it("writes and reads the key of a file", () => {
  const key = fileKey({ ...NAME, hash: `${NAME.hash}ffff` });
  expect(key).toBe("v1/ws_1/proj_1/0000000000001000-17-0123456789abcdef");
  expect(readFileKey(key)).toEqual(NAME);
  expect(key.startsWith(filePrefix("ws_1", "proj_1"))).toBe(true);
  expect(key.startsWith(filePrefix("ws_1"))).toBe(true);
  expect(readFileKey("v1/ws_1/proj_1/filters")).toBeNull();
});
