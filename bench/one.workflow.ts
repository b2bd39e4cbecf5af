/** What the host's benchmark runs: one trivial step. */
import { compute, workflow } from "pawl";
import { z } from "zod";

export default workflow({ name: "one", input: z.object({}) })
  .node(
    "only",
    compute(() => 1),
  )
  .build();
