/** Every kind of node, each leaving a line in a side file whenever it works: what the kill tests count. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { action, choices, compute, humanDecision, shell, workflow } from "pawl";
import { z } from "zod";

const verdict = choices({ go: { label: "Go" }, stop: { label: "Stop" } });
const did = (dir: string, step: string): string => {
  appendFileSync(join(dir, "side.txt"), `${step}\n`);
  return step;
};

/** Twenty ticks, each in a file, so that a parent can kill at any of them. Says so when an earlier run of it is still alive; one that is dead and not yet reaped is not. */
const ticking = `
  if [ -e "$1.pid" ]; then case "$(ps -o stat= -p "$(cat "$1.pid")")" in ""|Z*) ;; *) echo overlap >> overlap.txt;; esac; fi
  echo $$ > "$1.pid"
  i=0
  while [ $i -lt 20 ]; do i=$((i+1)); echo $i > "$1.tick"; sleep 0.03; done
  echo "$1" >> side.txt
  echo "done $1"
`;

export default workflow({ name: "steps", input: z.object({ dir: z.string() }) })
  .node(
    "begin",
    compute(({ input }) => did(input.dir, "begin")),
    "first",
  )
  .node("first", shell({ command: ticking, shell: true, args: ["first"], cwd: ({ input }) => input.dir, parse: ({ stdout }) => stdout.trim() }), "act")
  .node("act", action({ run: ({ input }) => did(input.dir, "act") }), "ask")
  .node(
    "ask",
    humanDecision({
      audience: "operator",
      choices: verdict,
      request: ({ outputs }) => ({ title: "Go on?", subject: outputs.act, presentation: { summary: "Go on?", blocks: [] } }),
    }),
    { go: "pay", stop: "stopped" },
  )
  .node("pay", action({ once: true, run: ({ input }) => did(input.dir, "pay") }), "second")
  .node("second", shell({ command: ticking, shell: true, args: ["second"], cwd: ({ input }) => input.dir, parse: ({ stdout }) => stdout.trim() }), "end")
  .node(
    "end",
    compute(({ input, outputs }) => ({ done: did(input.dir, "end"), paid: outputs.pay })),
  )
  .node(
    "stopped",
    compute(() => "stopped"),
  )
  .build();
