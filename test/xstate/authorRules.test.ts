import { readFileSync } from "node:fs";
import { join } from "node:path";
import { assign, createMachine, fromPromise, not, raise, setup } from "xstate";
import { describe, expect, test } from "vitest";
import { effect, effectAction, volatileAction } from "../../machines/define.ts";
import { isPawlError } from "../../src/errors.ts";
import { createRegistry, defineMachine } from "../../src/runtime/registry.ts";
import { root } from "../house/source.ts";
import { world } from "../runtime/kit.ts";
import { refusals } from "./refusals.ts";

/** Rows of the table under a heading of docs/xstate.md. */
function rowsUnder(heading: string): readonly (readonly string[])[] {
  const page = readFileSync(join(root, "docs/xstate.md"), "utf8");
  const section = page.split(/^## /m).find((part) => part.startsWith(heading)) ?? "";
  return [...section.matchAll(/^\| (.*) \|$/gm)].map(([, row = ""]) => row.split(" | ")).slice(2);
}

const refused = rowsUnder("Refused");

describe("the table of what is refused", () => {
  test("XS-3 every row is made, and nothing else", () => {
    expect(Object.keys(refusals)).toEqual(refused.map(([what]) => what));
  });

  test.each(refused)("XS-3 %s is refused: %s", async (what, answer, instead) => {
    const refusal = refusals[what ?? ""];
    const meet = async (): Promise<unknown> => {
      if (refusal?.at === "registration") return defineMachine(refusal.machine);
      if (!refusal) return null;
      const children = Object.values(refusal.machine.implementations.actors).filter(
        (actor): actor is typeof refusal.machine => typeof actor === "object" && "root" in actor,
      );
      const { runtime } = await world([refusal.machine, ...children]);
      await runtime.start(refusal.machine.id, { id: "a", input: undefined });
      expect(refusal.at).toBe("event");
      const before = await runtime.view("a");
      await expect(runtime.send("a", { type: "go" })).rejects.toThrow(answer);
      expect(await runtime.view("a"), "nothing of it is stored").toEqual(before);
      return runtime.send("a", { type: "go" });
    };
    const error = await meet().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(error instanceof Error && error.message).toContain(answer);
    expect(instead).not.toBe("");
  });
});

const messageOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return isPawlError(error) ? `${error.code}: ${error.message}` : "no Pawl error";
  }
  return "";
};

describe("author rules", () => {
  test("XS-3 an error names the machine, every problem with its state, and the mend", () => {
    const machine = setup({ actions: { beep: () => {} } as never, actors: { work: fromPromise(async () => 1) } }).createMachine({
      id: "many",
      version: "1",
      initial: "a",
      states: { a: { entry: "beep" as never, initial: "b", states: { b: { after: { soon: {} } as never } } } },
    });
    const message = messageOf(() => defineMachine(machine));
    expect(message).toMatch(
      /^invalidMachine: Machine "many" cannot be durable as it is: \(1\) state "a" runs the action "beep", .*volatileAction.* \(2\) state "a\.b" waits for the delay "soon", .*setup\(\{ delays \}\)/,
    );
  });

  test("XS-3 a machine that keeps them is taken, marked actions and effects included", () => {
    const machine = setup({
      types: {} as { events: { type: "go" } },
      actions: { pay: effectAction("pay"), beep: volatileAction(() => {}), count: assign({}) },
      actors: { load: effect<null, undefined>("load") },
      guards: { yes: () => true, no: not("yes") },
      delays: { soon: 10 },
    }).createMachine({
      id: "good",
      version: "1",
      context: {},
      entry: ["pay", "beep", "count"],
      invoke: { src: "load", onDone: {}, onError: {} },
      on: { go: { guard: "no", actions: raise({ type: "go" }, { delay: "soon" }) }, "*": {} },
      after: { soon: {} },
    });
    expect(defineMachine(machine)).toMatchObject({ id: "good", version: "1" });
  });

  test("XS-4 custom actions are let through by name, or all of them, where the machine is registered", () => {
    const machine = createMachine({ id: "loud", version: "1", entry: "beep", exit: () => {} }, { actions: { beep: () => {} } });
    expect(messageOf(() => defineMachine(machine, { volatileActions: ["beep"] }))).toContain('runs the action "exit"');
    expect(messageOf(() => defineMachine(machine, { volatileActions: "all" }))).toBe("");
  });

  test.each([
    ["below a state that invokes", { initial: "a", invoke: { id: "w", src: "work", onDone: {}, onError: {} }, states: { a: { on: { "*": {} } } } }, true],
    [
      "beside it, in another region, when the error has no answer",
      { type: "parallel", states: { a: { invoke: { id: "w", src: "work", onDone: {} } }, b: { on: { "*": {} } } } },
      true,
    ],
    [
      "above it, when the answer has a guard",
      { initial: "a", on: { "*": {} }, states: { a: { invoke: { id: "w", src: "work", onDone: { guard: "yes" }, onError: {} } } } },
      true,
    ],
    [
      "above it, when both ends are answered",
      { initial: "a", on: { "*": {} }, states: { a: { invoke: { id: "w", src: "work", onDone: {}, onError: {} } } } },
      false,
    ],
    ["in a state that is never active with it", { initial: "a", states: { a: { invoke: { id: "w", src: "work" } }, b: { on: { "*": {} } } } }, false],
    ["for errors only", { invoke: { id: "w", src: "work", onDone: {} }, on: { "xstate.error.*": {} } }, true],
    ["for other events", { invoke: { id: "w", src: "work" }, on: { "alarm.*": {} } }, false],
  ])("XS-3 a wildcard %s is refused where it would swallow the end of an actor", (_where, config, isRefused) => {
    const base = setup({ actors: { work: fromPromise(async () => 1) }, guards: { yes: () => true } }) as unknown as {
      createMachine(config: object): ReturnType<typeof createMachine>;
    };
    expect(messageOf(() => defineMachine(base.createMachine({ id: "wild", version: "1", ...config }))) !== "").toBe(isRefused);
  });

  test("XS-3 two different machines of one name and version are refused", () => {
    const one = defineMachine(createMachine({ id: "m", version: "1" }));
    const other = defineMachine(createMachine({ id: "m", version: "1", initial: "a", states: { a: {} } }));
    expect(messageOf(() => createRegistry([one, other]))).toContain("Two different machines");
  });
});
