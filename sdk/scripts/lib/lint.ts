import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import type { Packed } from "./pack.ts";

/** Runs publint --strict on the packed tarball. */
export async function checkManifest({ tarball }: Packed): Promise<string[]> {
  // SAFETY: the bytes of a file are never in shared memory.
  const buffer = tarball.slice().buffer as ArrayBuffer;
  const { messages, pkg } = await publint({ strict: true, pack: { tarball: buffer } });
  return messages.map((message) => formatMessage(message, pkg) ?? message.code);
}

/** Runs "Are the types wrong" for all module resolutions that support `exports`. */
export async function checkTypes({ tarball }: Packed): Promise<string[]> {
  const result = await checkPackage(createPackageFromTarballData(tarball));
  if (!result.types) return ["The package has no types."];
  return result.problems
    .filter((problem) => !("resolutionKind" in problem && problem.resolutionKind === "node10"))
    .map((problem) => `${problem.kind} ${JSON.stringify(problem)}`);
}
