import { expect, test } from "vitest";
import { z } from "zod";
import { compute, wait, workflow } from "../../src/workflow/authoring.ts";
import { errorOf } from "./files.ts";

/** An author without a compiler: every setting is allowed. */
const built = (options: unknown) =>
  workflow({ name: "rests", input: z.object({}) })
    .node("rest", wait(options as { readonly forMs: number }), "end") // what a file without types may say
    .node(
      "end",
      compute(() => 1),
    )
    .build();

test("WAIT-4 case 105 a wait that cannot be kept is refused when it is built, by name and with the mend", async () => {
  for (const [options, message] of [
    [{}, "either forMs"],
    [{ forMs: 1, until: 2 }, "either forMs"],
    [{ forMs: 0 }, "forMs 0; give milliseconds above 0"],
    [{ forMs: Number.NaN }, "forMs NaN"],
    [{ forMs: Infinity }, "forMs Infinity"],
    [{ forMs: "5" }, "forMs 5"],
    [{ until: new Date(Number.NaN) }, "an until that is no moment"],
    [{ until: "tomorrow" }, "an until that is no moment"],
    [{ forMs: 1, timeoutMs: -1 }, "timeoutMs"],
  ] as const) {
    const error = await errorOf(() => built(options));
    expect(error).toMatchObject({ code: "invalidWorkflow" });
    expect(String(error)).toContain('node "rest"');
    expect(String(error)).toContain(message);
  }
});

test("WAIT-3 a fixed time stands in the graph, what a callback gives does not", () => {
  const waits = (options: unknown) => built(options).graph.nodes[0]?.wait;
  expect(waits({ forMs: 5 })).toEqual({ forMs: 5 });
  expect(waits({ until: new Date(7) })).toEqual({ until: 7 });
  expect(waits({ until: -7 })).toEqual({ until: -7 });
  expect(waits({ until: () => 7 })).toBeUndefined();
  expect(built({ forMs: 5 }).graph.nodes[0]).toMatchObject({ timeoutMs: null, cases: ["done"] });
});
