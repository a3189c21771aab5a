// An application that throws. Argument: what it throws.
import { createLogger } from "../../dist/node/index.mjs";

createLogger({ transport: "memory" });

function userFunction(how) {
  if (how === "cause") throw new RangeError("outer", { cause: new Error("inner") });
  if (how === "text") throw "only a text";
  if (how === "forged") throw new Error("x\n    at forged (/etc/hostname:1:1)");
  JSON.parse("{ of the user");
}

if (process.argv[2] === "rejection") Promise.resolve("json").then(userFunction);
else userFunction(process.argv[2]);
