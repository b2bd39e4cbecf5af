/** One worker process, as the host sees it: starts it, asks it, watches that it lives, and says how it ended. Rules WORKER-*. */
import type { ChildProcess } from "node:child_process";
import { statSync } from "node:fs";
import { Socket } from "node:net";
import type { UpdateRequest } from "../../../machines/contracts/update.ts";
import { messageOf, PawlError } from "../../errors.ts";
import { systemClock } from "../../runtime/clock.ts";
import { Interrupted, type AbortReason } from "../../runtime/executor.ts";
import type { Watch } from "../author/authorCode.ts";
import { BoundedOutput } from "../boundedOutput.ts";
import { endGroup, watchGroup, within } from "../processes.ts";
import { howItEnded, sayOutOfMemory, type Ending } from "./endings.ts";
import { channelFd, Frames, lifelineFd } from "./frames.ts";
import { Answers, FromWorker, type Answer, type Body, type Method } from "./messages.ts";
import { Pulse } from "./pulse.ts";
import { isRunning, startWorker, unavailable, type StartedWorker } from "./startWorker.ts";
import { SentTexts, type Text } from "./texts.ts";
import { fromWire, toWire } from "./wireError.ts";

export interface ProcessOptions {
  /** The project: its working directory. Null: it is told later, by `enter`. */
  readonly cwd: string | null;
  /** How long it may say nothing, ms. */
  readonly blockedMs: number;
  /** Limit of its JavaScript heap in MiB; null: Node's own. */
  readonly memoryMb: number | null;
  /** One that was started before; when it has ended meanwhile, another is. */
  readonly started?: StartedWorker | undefined;
  /** Told at once when it is gone or about to go, before what was open in it is told. */
  readonly onLost: () => void;
}

export interface CallOptions extends Watch {
  /** When there is no answer by then, its loop is held up or its code waits for what does not come: the process is ended. */
  readonly deadline?: { readonly ms: number; readonly lastWords: string };
  /** The call was given up; it may still answer, and nobody need wait. */
  readonly onAbandoned: () => void;
}

interface Open {
  readonly method: Method;
  readonly report: (line: string) => void;
  readonly heartbeat: () => void;
  readonly update: NonNullable<Watch["update"]>;
  readonly answered: (answer: unknown) => void;
  readonly failed: (error: Error) => void;
}

/** How long a worker may take to say that it is there. */
const startMs = 30_000;
/** How long a call may take to heed its signal, and after that a loop to turn once. */
const heedMs = 2_000;
const turnMs = 1_000;
/** How long streams may still be open after the process is gone. */
const lingerMs = 500;

export class WorkerProcess {
  /** Resolves when it can be asked. @throws workerUnavailable */
  readonly ready: Promise<void>;
  /** Resolves when it and its group are gone. */
  readonly gone: Promise<void>;
  private readonly options: ProcessOptions;
  private readonly child: ChildProcess;
  /** Of its process, its group and its session. */
  private readonly pid: number;
  private readonly frames: Frames;
  private readonly sent = new SentTexts();
  private readonly open = new Map<number, Open>();
  private state: "starting" | "ready" | "ending" | "gone" = "starting";
  private lastCall = 0;
  private readonly pulse: Pulse;
  /** What is known of its end before it comes. */
  private ending: Ending = {};
  private lastWords: string | null = null;
  private sayReady: (error?: PawlError) => void = () => undefined;
  /** A directory that it must be told as soon as it is there. */
  private entering: string | null = null;
  private onLost: () => void;

  constructor(options: ProcessOptions) {
    this.options = options;
    this.onLost = options.onLost;
    this.ready = new Promise((resolve, reject) => {
      this.sayReady = (error) => (error ? reject(error) : resolve());
    });
    // Whoever uses the worker awaits it; one that nobody waits for any more must not end the host.
    this.ready.catch(() => undefined);
    if (options.cwd !== null) checkProject(options.cwd);
    const { started } = options;
    const { child, pid } = started !== undefined && isRunning(started) ? started : startWorker(options);
    this.child = child;
    this.pid = pid;
    this.frames = new Frames(socketOf(this.child, channelFd), {
      message: (value) => this.take(value),
      broken: (error) => this.kill({ lastWords: `it sent what is no message: ${messageOf(error)}` }),
    });
    socketOf(this.child, lifelineFd).on("error", () => undefined);
    this.listen(this.child.stdout);
    this.listen(this.child.stderr);
    this.pulse = new Pulse({
      blockedMs: options.blockedMs,
      ping: () => this.send({ kind: "ping" }),
      stopped: (ms) => this.state === "ready" && this.kill({ blockedMs: ms }),
    });
    this.gone = this.supervise();
  }

  /** False once it is gone or about to go: then another one must be asked. */
  get isThere(): boolean {
    return this.state === "ready";
  }

  /** Gives one that was started for nobody yet its project. @throws workerUnavailable when there is no such directory */
  enter(cwd: string, onLost: () => void): void {
    checkProject(cwd);
    this.onLost = onLost;
    if (this.state === "starting") this.entering = cwd;
    else this.send({ kind: "enter", cwd });
  }

  /** Not on its way out. */
  get isUsable(): boolean {
    return this.state === "starting" || this.state === "ready";
  }

  /** Sends a call with its texts and waits for the answer. Abort reaches it at once; after cancel and shutdown it is waited for 2 s at most. @throws Interrupted */
  call<M extends Method>(method: M, body: Body<M>, texts: readonly Text[], watch: CallOptions): Promise<Answer<M>> {
    const call = (this.lastCall += 1);
    return new Promise<Answer<M>>((resolve, reject) => {
      const { signal } = watch;
      let stopWaiting = (): void => undefined;
      const { deadline } = watch;
      const stopDeadline =
        deadline && systemClock.schedule(systemClock.now() + deadline.ms, () => this.state === "ready" && this.kill({ lastWords: deadline.lastWords }));
      const over = (): void => {
        this.open.delete(call);
        stopDeadline?.();
        signal.removeEventListener("abort", abort);
        stopWaiting();
        if (this.open.size === 0) this.pulse.stop();
      };
      const abort = (): void => {
        const reason = signal.reason as AbortReason; // only the runtime aborts it, with one of these
        this.send({ kind: "abort", call, reason });
        stopWaiting = systemClock.schedule(systemClock.now() + heedMs, () => {
          this.pulse.probe(turnMs, heedMs + turnMs);
          watch.onAbandoned();
          // The late word of one that ran out of time may still count.
          if (reason === "timedOut" || reason === "silent") return;
          over();
          reject(new Error("It did not heed its signal."));
        });
      };
      this.open.set(call, {
        method,
        report: watch.report,
        heartbeat: () => watch.heartbeat?.(),
        update: (update) => watch.update?.(update) ?? Promise.reject(new PawlError("refused", `"${method}" publishes no updates.`)),
        answered: (answer) => {
          over();
          try {
            resolve(Answers[method].parse(answer) as Answer<M>); // the schema of this very method
          } catch (error) {
            reject(new PawlError("internal", `A worker answered "${method}" with something else: ${messageOf(error)}`));
          }
        },
        failed: (error) => {
          over();
          reject(error);
        },
      });
      if (this.state === "gone") return this.failAll();
      // Its end is on the way, and with it the reason.
      if (this.state !== "ready") return;
      try {
        for (const text of texts) this.frames.send(this.sent.messageFor(text));
        this.frames.send({ kind: "call", call, method, body });
      } catch (error) {
        // Texts without their call would be taken for the next one's.
        this.kill({ lastWords: messageOf(error) });
        return;
      }
      this.pulse.start();
      if (signal.aborted) abort();
      else signal.addEventListener("abort", abort, { once: true });
    });
  }

  /** Ends it and whatever its code started: TERM, after a second KILL. Takes at most 2 s. */
  async end(): Promise<void> {
    if (this.state === "gone") return;
    this.state = "ending";
    await endGroup(this.pid);
    await within(this.gone, lingerMs);
  }

  private send(message: object): void {
    if (this.state === "ready") this.frames.send(message);
  }

  private take(value: unknown): void {
    const message = FromWorker.parse(value);
    this.pulse.beat();
    // Whoever says more has survived its last words.
    this.lastWords = message.kind === "lastWords" ? message.message : null;
    switch (message.kind) {
      case "ready":
        if (this.state !== "starting") break;
        this.state = "ready";
        if (this.entering !== null) this.send({ kind: "enter", cwd: this.entering });
        this.sayReady();
        break;
      case "answered":
        this.open.get(message.call)?.answered(message.answer);
        break;
      case "threw":
        this.open.get(message.call)?.failed(fromWire(message.error));
        break;
      case "line":
        this.open.get(message.call)?.report(message.line);
        break;
      case "update":
        void this.publish(message.call, message.number, message.update);
        break;
      case "beat":
        this.open.get(message.call)?.heartbeat();
        break;
      case "lastWords":
      case "pong":
        break;
    }
  }

  private async publish(call: number, number: number, update: UpdateRequest): Promise<void> {
    const open = this.open.get(call);
    // A call that is over has closed its sender.
    if (open === undefined) return;
    try {
      this.send({ kind: "updated", call, number, receipt: await open.update(update) });
    } catch (error) {
      this.send({ kind: "updateRefused", call, number, error: toWire(error) });
    }
  }

  /** What no call printed: it is told to the one that is open longest, which is nearly always the only one. */
  private listen(stream: NodeJS.ReadableStream | null): void {
    const output = new BoundedOutput((line) => {
      if (sayOutOfMemory(line)) this.ending = { ...this.ending, outOfMemory: true };
      const [oldest] = this.open.values();
      oldest?.report(line);
      if (this.state === "starting" && /error/i.test(line)) this.ending = { said: line, ...this.ending };
    }, 0);
    stream?.on("data", (chunk: Uint8Array) => output.add(chunk));
    stream?.on("error", () => undefined);
    stream?.on("end", () => output.end());
  }

  private async supervise(): Promise<void> {
    const { child } = this;
    const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
    const forget = watchGroup(this.pid);
    const stopStart = systemClock.schedule(systemClock.now() + startMs, () => {
      if (this.state === "starting") this.kill({ lastWords: `it did not start within ${startMs / 1_000} s` });
    });
    child.on("error", () => undefined);
    const ended = await new Promise<Ending>((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
    stopStart();
    this.pulse.stop();
    this.onLost();
    // What its code started has nobody to answer to any more.
    await endGroup(this.pid);
    await within(closed, lingerMs);
    this.ending = { ...ended, ...(this.lastWords === null ? {} : { lastWords: this.lastWords }), ...this.ending };
    this.state = "gone";
    for (const stream of child.stdio) stream?.destroy();
    forget();
    // Nothing for one that was there.
    this.sayReady(unavailable(`It ended before it was there: ${howItEnded(this.ending, this.options)}${this.ending.said ? ` (${this.ending.said})` : ""}.`));
    this.failAll();
  }

  private failAll(): void {
    const message = `The worker process was lost: ${howItEnded(this.ending, this.options)}.`;
    for (const { failed } of this.open.values()) failed(new Interrupted(message));
  }

  private kill(ending: Ending): void {
    if (this.state === "gone") return;
    this.ending = { ...this.ending, ...ending };
    this.onLost();
    if (this.state !== "starting") this.state = "ending";
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch {
      // It ended by itself this moment: its exit is on the way.
    }
  }
}

function checkProject(cwd: string): void {
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory() ?? false) return;
  throw new PawlError(
    "workerUnavailable",
    `No worker process could be started for the workflow's code: the directory ${cwd}, which the run was started in, does not exist. Create it, then resume the run.`,
    { subject: cwd },
  );
}

function socketOf(child: ChildProcess, fd: number): Socket {
  const stream = child.stdio[fd];
  if (stream instanceof Socket) return stream;
  throw unavailable("It has no channel.");
}
