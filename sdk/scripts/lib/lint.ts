import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import type { Packed } from "./pack.ts";

/** publint --strict on the packed tarball. */
export async function checkManifest({ tarball }: Packed): Promise<string[]> {
  // SAFETY: a file's bytes are never in shared memory.
  const buffer = tarball.slice().buffer as ArrayBuffer;
  const { messages, pkg } = await publint({ strict: true, pack: { tarball: buffer } });
  return messages.map((message) => formatMessage(message, pkg) ?? message.code);
}

/** Are the types wrong, in any way of resolving modules that knows `exports`. */
export async function checkTypes({ tarball }: Packed): Promise<string[]> {
  const result = await checkPackage(createPackageFromTarballData(tarball));
  if (!result.types) return ["The package has no types."];
  return result.problems
    .filter((problem) => !("resolutionKind" in problem && problem.resolutionKind === "node10"))
    .map((problem) => `${problem.kind} ${JSON.stringify(problem)}`);
}
