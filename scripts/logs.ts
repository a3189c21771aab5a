/** `npm run logs -- tail|query|stats|send`: the terminal client of `sdk/`, from its source. */
import { runProcess } from "../sdk/src/cli/process.ts";

// npm changes to the root of the project; file arguments are relative to the directory of the command.
if (process.env.INIT_CWD) process.chdir(process.env.INIT_CWD);
await runProcess();
