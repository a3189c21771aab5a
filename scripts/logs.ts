/** `npm run logs -- tail|query|stats|send`: the terminal client of `sdk/`, from its source. */
import { runProcess } from "../sdk/src/cli/process.ts";

// npm goes to the root of the project; files are named from where the command was typed.
if (process.env.INIT_CWD) process.chdir(process.env.INIT_CWD);
await runProcess();
