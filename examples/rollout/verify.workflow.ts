/** Whether a release file is what its author built: mounted by the rollout, and startable alone. */
import { stat } from "node:fs/promises";
import { compute, shell, workflow } from "pawl";
import { z } from "zod";

const input = z.object({
  /** The release, a file. */
  release: z.string().min(1),
  /** SHA-256 in hex; any is fine when left out. */
  sha256: z.string().optional(),
});

export default workflow({ name: "verify", input })
  .node(
    "digest",
    shell({
      command: "sha256sum",
      args: ({ input }) => [input.release],
      statusDetail: "Reading the release",
      parse: ({ stdout }) => ({ sha256: stdout.slice(0, 64) }),
      route: () => "read",
    }),
    { read: "compare" },
  )
  .node(
    "compare",
    compute(({ input, outputs }) => input.sha256 === undefined || input.sha256 === outputs.digest.sha256, {
      route: (isSame) => (isSame ? "same" : "different"),
      cases: ["same", "different"],
    }),
    { same: "sound", different: "spoilt" },
  )
  .node(
    "sound",
    compute(async ({ input, outputs }) => ({ sha256: outputs.digest.sha256, bytes: (await stat(input.release)).size })),
  )
  .node(
    "spoilt",
    compute(({ outputs }) => ({ found: outputs.digest.sha256 })),
  )
  .build();
