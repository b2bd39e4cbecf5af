/** A worker process: runs what the host asks of author code, several calls at once, and answers. It has no store, and no way to the host but its channel. */
import { Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { systemClock } from "../../runtime/clock.ts";
import { messageOf } from "../../errors.ts";
import { jsonText } from "../../json.ts";
import type { Executed } from "../../workflow/execute.ts";
import { warmTransformer } from "../../workflow/load/virtual.ts";
import type { Watch } from "../author/authorCode.ts";
import { InProcess } from "../author/inProcess.ts";
import { killOwnGroup } from "../processes.ts";
import { channelFd, Frames, FrameTooLarge, lifelineFd } from "./frames.ts";
import { Answers, Bodies, ToWorker, type Answer, type Method } from "./messages.ts";
import { Printing } from "./printing.ts";
import { ReceivedTexts, textAt, unpackPromise, unpackRun, unpackVisit } from "./texts.ts";
import { UpdateSender } from "./updateSender.ts";
import { fromWire, toWire } from "./wireError.ts";

/** Bytes of lines that may wait for the host; what is printed beyond that is dropped and counted. */
const backlogLimit = 1024 * 1024;

const printing = new Printing();
const received = new ReceivedTexts();
const aborts = new Map<number, AbortController>();
/** Where the host has put the stored sources: it says so with each call. */
const directories = new Map<string, string>();
const author = new InProcess({
  clock: systemClock,
  directoryOf: async (source) => {
    const directory = directories.get(source);
    if (directory === undefined) throw new Error(`Nobody said where the sources ${source} are.`);
    return directory;
  },
});

const executed = ({ case: taken, value }: Executed): Answer<"execute"> => ({ case: taken, json: JSON.stringify(value) ?? "null" });

type Work = (body: unknown, texts: readonly string[], watch: Watch) => Promise<unknown>;

const at = <T extends { readonly source: string }>(directory: string, call: T): T => {
  directories.set(call.source, directory);
  return call;
};

const works: { readonly [M in Method]: Work } = {
  load: async (body, texts) => {
    const { input, ...request } = Bodies.load.parse(body);
    return author.load({ ...request, input: input === null ? undefined : JSON.parse(textAt(texts, input)) });
  },
  ready: async (body, texts) => {
    const { directory, call } = Bodies.ready.parse(body);
    await author.ready(at(directory, unpackRun(call, texts)));
    return null;
  },
  prepare: async (body, texts) => {
    const { directory, call } = Bodies.prepare.parse(body);
    const prepared = await author.prepare(at(directory, unpackRun(call, texts)));
    return prepared === null ? null : JSON.stringify(prepared.input);
  },
  execute: async (body, texts, watch) => {
    const { directory, call } = Bodies.execute.parse(body);
    return executed(await author.execute(at(directory, unpackVisit(call, texts)), watch));
  },
  shellSpec: async (body, texts, watch): Promise<Answer<"shellSpec">> => {
    const { directory, call } = Bodies.shellSpec.parse(body);
    const { command, args, cwd, env, stdin, timeoutMs, allowNonZeroExit } = await author.shellSpec(at(directory, unpackVisit(call, texts)), watch);
    const variables = Object.entries(env).map(([name, value]): [string, string | null] => [name, value ?? null]);
    return { command, args: [...args], cwd: cwd ?? null, env: variables, stdin: stdin ?? null, timeoutMs, allowNonZeroExit };
  },
  parseShell: async (body, texts, watch) => {
    const { directory, call, result } = Bodies.parseShell.parse(body);
    return executed(await author.parseShell(at(directory, unpackVisit(call, texts)), result, watch));
  },
  prepareNode: async (body, texts, watch) => {
    const { directory, call } = Bodies.prepareNode.parse(body);
    return JSON.stringify(await author.prepareNode(at(directory, unpackVisit(call, texts)), watch));
  },
  acceptNode: async (body, texts, watch) => {
    const { directory, call, output } = Bodies.acceptNode.parse(body);
    return executed(await author.acceptNode(at(directory, unpackVisit(call, texts)), JSON.parse(textAt(texts, output)), watch));
  },
  acceptOutput: async (body, texts) => {
    const { directory, workflow, node, output } = Bodies.acceptOutput.parse(body);
    return executed(await author.acceptOutput(at(directory, workflow), node, JSON.parse(textAt(texts, output))));
  },
  open: async (body) => {
    const { directory, workflow } = Bodies.open.parse(body);
    await author.open(at(directory, workflow));
    return null;
  },
  step: async (body, texts): Promise<Answer<"step">> => {
    const { directory, machine, request } = Bodies.step.parse(body);
    const { from, given } = request;
    return author.step(at(directory, machine), { ...request, from: from === null ? null : textAt(texts, from), given: textAt(texts, given) });
  },
  perform: async (body) => {
    const { machine, name } = Bodies.perform.parse(body);
    await author.perform(machine, name);
    return null;
  },
  promise: async (body, texts, watch): Promise<Answer<"promise">> => {
    const { directory, machine, call } = Bodies.promise.parse(body);
    const { output } = await author.promise(at(directory, machine), unpackPromise(call, texts), watch);
    return output === undefined ? null : jsonText(output, `output of "${call.src}"`);
  },
  observe: async (body, texts, watch): Promise<Answer<"observe">> => {
    const { directory, machine, call } = Bodies.observe.parse(body);
    const seen = await author.observe(at(directory, machine), unpackPromise(call, texts), watch);
    if (seen === null || !seen.happened) return seen && { happened: false };
    return { happened: true, output: seen.output === undefined ? null : jsonText(seen.output, `output of "${call.src}"`) };
  },
};

/** Sends lines while the host takes them. */
function liner(call: number): (line: string) => void {
  let dropped = 0;
  return (line) => {
    if (frames.backlog > backlogLimit) {
      dropped += 1;
      return;
    }
    if (dropped > 0) frames.send({ kind: "line", call, line: `[${dropped} lines were printed faster than they could be shown]` });
    dropped = 0;
    frames.send({ kind: "line", call, line });
  };
}

/** Updates of the calls that run. */
const senders = new Map<number, UpdateSender>();

async function answer(call: number, method: Method, body: unknown): Promise<void> {
  const texts = received.take();
  const controller = new AbortController();
  aborts.set(call, controller);
  const report = liner(call);
  const watch: Watch = {
    signal: controller.signal,
    report,
    heartbeat: () => frames.send({ kind: "beat", call }),
    update(update) {
      const sender = senders.get(call) ?? new UpdateSender((number, sent) => frames.send({ kind: "update", call, number, update: sent }));
      senders.set(call, sender);
      return sender.publish(update);
    },
  };
  try {
    const given = await printing.of(report, async () => {
      try {
        return await works[method](body, texts, watch);
      } finally {
        await senders.get(call)?.settled();
      }
    });
    frames.send({ kind: "answered", call, answer: Answers[method].parse(given) });
  } catch (error) {
    const told =
      error instanceof FrameTooLarge ? Object.assign(new Error(`It gave more than can be handed over. ${error.message}`), { reason: "outputTooLarge" }) : error;
    frames.send({ kind: "threw", call, error: toWire(told) });
  } finally {
    aborts.delete(call);
    senders.delete(call);
  }
}

function take(value: unknown): void {
  const message = ToWorker.parse(value);
  switch (message.kind) {
    case "text":
      received.add(message.key, message.json);
      break;
    case "call":
      void answer(message.call, message.method, message.body);
      break;
    case "abort":
      aborts.get(message.call)?.abort(message.reason);
      break;
    case "updated":
      senders.get(message.call)?.answered(message.number, { receipt: message.receipt });
      break;
    case "updateRefused":
      senders.get(message.call)?.answered(message.number, { error: fromWire(message.error) });
      break;
    case "ping":
      frames.send({ kind: "pong" });
      break;
    case "enter":
      process.chdir(message.cwd);
      process.env["PWD"] = message.cwd;
      break;
  }
}

const channel = new Socket({ fd: channelFd, readable: true, writable: true });
const frames = new Frames(channel, {
  message: take,
  // Out of step with the host: it is told by the end of this process, and runs again what was open.
  broken: (error) => {
    frames.send({ kind: "lastWords", message: `it could not read what the host sent: ${messageOf(error)}` });
    process.exit(1);
  },
});
channel.on("close", () => killOwnGroup());
process.on("uncaughtExceptionMonitor", (error) =>
  frames.send({ kind: "lastWords", message: `something was thrown in it that nothing caught: ${messageOf(error)}` }),
);
const thread = import.meta.url.endsWith(".ts") ? "./lifeline.ts" : "./lifeline.js";
new Worker(new URL(thread, import.meta.url), { workerData: { fd: lifelineFd }, stdout: false, stderr: false }).unref();
frames.send({ kind: "ready" });
// Whatever it is asked first needs it, and one that stands by has time.
setImmediate(warmTransformer);
