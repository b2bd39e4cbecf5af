import { expect, test } from "vitest";
import { setup } from "xstate";
import { durable, openEmbedded, openPawl, openReader } from "../../src/index.ts";
import { afterwards, newHome } from "./kit.ts";

const machine = setup({ actors: { pay: durable(async () => Promise.reject(new Error("connection lost")), { once: true }) } }).createMachine({
  id: "paying",
  version: "1",
  initial: "paying",
  states: { paying: { invoke: { id: "pay", src: "pay", onDone: "paid" } }, paid: {} },
});

test("API-20 the operator's commands list the effects of a program's own machine, and send whoever would settle one there", async () => {
  const path = newHome();
  const pawl = await openPawl({ path, machines: [machine] });
  await pawl.start(machine, { id: "p" });
  await pawl.settled();
  await pawl.close();
  const reader = await openReader({ home: path });
  expect((await reader.effects({ state: ["ambiguous"] })).items).toMatchObject([{ key: "p@1:0", once: true, error: { message: "connection lost" } }]);
  await reader.close();
  const host = await openEmbedded({ home: path });
  for (const settle of [() => host.confirmEffect("p@1:0", "receipt"), () => host.retryEffect("p@1:0")])
    await expect(settle()).rejects.toMatchObject({ code: "restoreRefused", message: expect.stringMatching(/"p@1:0".*"p".*openPawl/) });
  await host.close();
  const again = await openPawl({ path, machines: [machine] });
  afterwards(() => again.close());
  await again.confirmEffect("p@1:0", "receipt");
  expect((await again.get("p"))?.value).toBe("paid");
});
