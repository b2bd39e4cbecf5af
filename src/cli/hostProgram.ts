/** The commands that look after a host, their options and their help. What they do stands in commands/. */
import { InvalidArgumentError, type Command } from "commander";
import { examples } from "./help.ts";

export type HostRequest =
  | { readonly command: "hostStart" }
  | { readonly command: "hostStatus" }
  | { readonly command: "hostStop" }
  | { readonly command: "hostLogs"; readonly options: { readonly lines?: number } };

export function addHostCommands(root: Command, program: string, found: (request: HostRequest) => void): void {
  const host = root
    .command("host")
    .description("the background process that runs go on in; started by itself when needed, and gone when nothing is left to do")
    .helpCommand(false)
    .addHelpText("after", examples(program, ["host status", "host logs", "host stop"]));
  host
    .command("start")
    .description("start the host, if it does not run; unfinished runs go on")
    .addHelpText("after", examples(program, ["host start"]))
    .action(() => found({ command: "hostStart" }));
  host
    .command("status")
    .description("whether a host runs, and what it has to do")
    .addHelpText("after", examples(program, ["host status", "host status --json"]))
    .action(() => found({ command: "hostStatus" }));
  host
    .command("stop")
    .description("end the host; its runs stop at their last saved step and go on when a host starts again")
    .addHelpText("after", examples(program, ["host stop"]))
    .action(() => found({ command: "hostStop" }));
  host
    .command("logs")
    .description("the end of the host's log")
    .option("--lines <n>", "at most this many lines (default: 50)", lines)
    .addHelpText("after", examples(program, ["host logs", "host logs --lines 200", "host logs --json"]))
    .action((options: { lines?: number }) => found({ command: "hostLogs", options }));
}

function lines(text: string): number {
  const value = Number(text);
  if (!/^[0-9]{1,6}$/.test(text) || value < 1) throw new InvalidArgumentError("Give a whole number, 1 or more.");
  return value;
}
