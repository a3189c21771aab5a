/** `npm run build`: writes static files and the worker bundle below dist/. */
import { buildAll } from "./lib/bundle.ts";
import { exitWith } from "./lib/failure.ts";

const built = await buildAll().catch(exitWith);
console.log(built ? "Built dist/worker/worker.js and dist/assets." : "dist/ is up to date.");
