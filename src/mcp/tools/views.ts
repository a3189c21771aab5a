import { z } from "zod";
import { answerOf } from "../answer.ts";
import { maxTokens, project, QUERY, shownQuestion } from "../arguments.ts";
import { projectOf, tool } from "../tool.ts";
import { done } from "./alerts.ts";

export const saveView = tool({
  name: "save_view",
  title: "Save a view",
  description: "Saves a query as a view that the members of the workspace see in the explorer.",
  scope: "views:write",
  input: z.strictObject({
    project,
    name: z.string().max(100),
    query: QUERY,
    last: z.string().max(10).optional().describe("Span of time: `24h`; default: all."),
    columns: z.array(z.string().max(200)).max(50).optional(),
    max_tokens: maxTokens,
  }),
  question: ({ name, query }) => shownQuestion(`save ${name}: ${query}`),
  run: async (args, ports) => {
    const of = projectOf(ports, args.project);
    const { name, query, last, columns } = args;
    const view = {
      name,
      query,
      range: last === undefined ? null : { last },
      ...(columns === undefined ? {} : { columns }),
    };
    const id = await ports.saveView(of?.id ?? null, view);
    return answerOf(done(`saved: ${id}`), args.max_tokens);
  },
});
