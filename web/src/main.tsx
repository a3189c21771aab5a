// First of all: what is secret in the address must be out of it before anything else runs.
import "./session/address.ts";
import { render } from "preact";
import "./ui/tokens.css";
import "./ui/base.css";
import { App } from "./app.tsx";
import { loadAnewIfReplaced } from "./lib/replaced.ts";
import { applyTheme } from "./ui/theme.tsx";
import { toast } from "./ui/toasts.tsx";

loadAnewIfReplaced(() => toast("The service could not be reached. The page opens as soon as it can.", "error"));
applyTheme();
const root = document.getElementById("app");
if (root) render(<App />, root);
