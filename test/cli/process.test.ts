/** How the command line shares its process with the code of workflows, and how it is stopped. */
import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { watchInterrupts } from "../../src/cli/interrupts.ts";
import { catchOutput } from "../../src/cli/workflowOutput.ts";
import { fakeClock } from "../../src/runtime/clock.ts";
import { hostile } from "./samples.ts";

function writer() {
  const written: unknown[] = [];
  return { written, write: (...args: readonly unknown[]): boolean => written.push(args[0]) > 0 };
}

test("CLI-17 what workflow code prints comes as whole safe lines, the last one too, and nothing reaches the stream", () => {
  const stream = writer();
  const lines: string[] = [];
  const release = catchOutput([stream], (line) => lines.push(line));
  stream.write(`one\ntwo ${hostile}\n`);
  const bytes = new TextEncoder().encode("日本\n");
  for (const byte of bytes) stream.write(Uint8Array.of(byte));
  stream.write("unfin");
  stream.write("ished");
  release();
  stream.write("after");
  expect(lines).toEqual(["one", "two link\\u{202E}evil\\u{200B}", "next tab", "日本", "unfinished"]);
  expect(stream.written).toEqual(["after"]);
});

test("CLI-17 whoever waits for a write to be done is told", async () => {
  const stream = writer();
  const release = catchOutput([stream], () => {});
  await new Promise((done) => void stream.write("x", "utf8", done));
  release();
});

function interrupts() {
  const source = new EventEmitter();
  const clock = fakeClock();
  const exits: [number, string][] = [];
  return { source, clock, exits, watch: watchInterrupts(source, clock, (code, words) => exits.push([code, words])) };
}

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("CLI-18 %s asks to stop, a second one ends at once with 130 and the last words", async (signal) => {
  const { source, exits, watch } = interrupts();
  let finish = (): void => {};
  const work = watch.hold("go on with: pawl resume r", () => new Promise<void>((done) => (finish = done)));
  source.emit(signal);
  expect(watch.signal.aborted).toBe(true);
  expect(exits).toEqual([]);
  source.emit("SIGINT");
  expect(exits).toEqual([[130, "go on with: pawl resume r"]]);
  finish();
  await work;
});

test("CLI-18 work that does not stop within five seconds is left", async () => {
  const { source, clock, exits, watch } = interrupts();
  void watch.hold("words", () => new Promise<void>(() => {}));
  source.emit("SIGTERM");
  clock.advance(4_999);
  expect(exits).toEqual([]);
  clock.advance(1);
  expect(exits).toEqual([[130, "words"]]);
});

test("CLI-18 where nothing runs the first one ends the process, and work that stopped leaves no timer", async () => {
  const { source, clock, exits, watch } = interrupts();
  await watch.hold("words", async () => void source.emit("SIGINT"));
  expect(clock.pending()).toBe(0);
  expect(exits).toEqual([]);
  source.emit("SIGINT");
  expect(exits).toEqual([[130, ""]]);
  watch.close();
  expect(source.listenerCount("SIGINT")).toBe(0);
});

test("CLI-22 when nobody reads any more, work is stopped and no last words are said", async () => {
  const { clock, exits, watch } = interrupts();
  void watch.hold("words", () => new Promise<void>(() => {}));
  watch.abandon();
  expect(watch.signal.aborted).toBe(true);
  expect(watch.isAbandoned()).toBe(true);
  clock.advance(5_000);
  expect(exits).toEqual([[130, ""]]);
});

test("CLI-18 a closed window that comes as SIGHUP, a failing write and SIGHUP again is one wish to stop", () => {
  const { source, clock, exits, watch } = interrupts();
  void watch.hold("words", () => new Promise<void>(() => {}));
  source.emit("SIGHUP");
  watch.abandon();
  source.emit("SIGHUP");
  expect(exits).toEqual([]);
  clock.advance(5_000);
  expect(exits).toEqual([[130, ""]]);
});
