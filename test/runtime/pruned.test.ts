import { setup } from "xstate";
import { expect, test } from "vitest";
import { keptIdsMs } from "../../persistence/prune.ts";
import { defineMachine } from "../../src/runtime/registry.ts";
import { Upgrades } from "./restoreKit.ts";

const door = setup({ types: {} as { events: { type: "close"; by: string } } }).createMachine({
  id: "door",
  version: "1",
  initial: "open",
  states: { open: { on: { close: "closed" } }, closed: { type: "final" } },
});

test("STORE-31 a repeated event of a pruned actor gets its first answer for thirty days, and is no other's", async () => {
  const upgrades = new Upgrades();
  const runtime = await upgrades.open([defineMachine(door)]);
  await runtime.start("door", { id: "d", input: undefined });
  const first = await runtime.send("d", { type: "close", by: "ada" }, { eventId: "e" });
  expect(await upgrades.store.prune({ root: "d", blobs: [], isKept: () => false, at: 0 })).toMatchObject({ actors: 1 });
  expect(await runtime.send("d", { type: "close", by: "ada" }, { eventId: "e" })).toEqual({ ...first, status: "duplicate" });
  expect(await runtime.send("d", { type: "close", by: "bob" }, { eventId: "e" })).toMatchObject({ status: "refused", code: "keyReused" });
  await expect(runtime.send("d", { type: "close", by: "ada" })).rejects.toMatchObject({ code: "unknownActor" });
  await upgrades.store.forgetPruned(keptIdsMs, () => false);
  await expect(runtime.send("d", { type: "close", by: "ada" }, { eventId: "e" })).rejects.toMatchObject({ code: "unknownActor" });
});
