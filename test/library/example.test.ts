import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { newHome } from "./kit.ts";

const program = fileURLToPath(new URL("../../examples/durable-machine/run.ts", import.meta.url));

/** Runs the example; kills it when it has said `killAt`. Resolves with what it said. */
function run(folder: string, killAt?: RegExp): Promise<{ readonly code: number | null; readonly said: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--conditions=pawl-source", program, folder], { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    const hear = (text: string): void => {
      said += text;
      if (killAt?.test(said)) child.kill("SIGKILL");
    };
    child.stdout.setEncoding("utf8").on("data", hear);
    child.stderr.setEncoding("utf8").on("data", hear);
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, said }));
  });
}

test("API-17, case 41 the example's order goes on after each kill, and its customer is charged once", { timeout: 60_000 }, async () => {
  const folder = newHome();
  // In the middle of the payment, of the packing, and of the handing over; on a slow machine a step may be over before it can be killed in.
  const moments = [/order-1: "charging"/, /order-1\/shipment: "packing"/, /order-1\/shipment: "handingOver"/];
  let kills = 0;
  let last = await run(folder, moments[0]);
  for (; last.code === null && kills < moments.length; last = await run(folder, moments[kills])) kills += 1;
  const { code, said } = last;
  expect(kills, said).toBeGreaterThan(0);
  expect([code, said]).toEqual([0, expect.stringContaining('completed: {"receipt":"receipt of order-1@3:0","tracking":"track-order-1"}')]);
  expect(readFileSync(join(folder, "bank.txt"), "utf8")).toBe("order-1@3:0 42\n");
  const mail = readFileSync(join(folder, "mail.txt"), "utf8").trim().split("\n");
  expect(new Set(mail)).toEqual(
    new Set(["ann@example.invalid: Reminder 1: order-1 is not paid yet.", "ann@example.invalid: order-1 is on its way: track-order-1."]),
  );
  // Once more: all is done, and nothing is done again.
  const again = await run(folder);
  expect([again.code, readFileSync(join(folder, "bank.txt"), "utf8").split("\n").length]).toEqual([0, 2]);
});
