/** What the host's benchmark answers: one decision, and one trivial step behind it. */
import { choices, compute, humanDecision, workflow } from "pawl";
import { z } from "zod";

const approval = choices({ go: { label: "Go" } });

export default workflow({ name: "asked", input: z.object({}) })
  .node("ask", humanDecision({ audience: "operator", choices: approval, request: () => ({ title: "Go on?", subject: null }) }), { go: "after" })
  .node(
    "after",
    compute(() => 1),
  )
  .build();
