/** A client of a host: `companyClient.ts <home> <workflow> <first> <count>` starts runs under keys of their own, waits for all of them, prints their states, and ends. */
import { dirname } from "node:path";
import { connectHost } from "../../src/client/connectHost.ts";

const [home = "", workflow = "", first = "0", count = "0"] = process.argv.slice(2);
const host = connectHost({ home, name: "company" });
const numbers = Array.from({ length: Number(count) }, (_, n) => Number(first) + n);
const states = await Promise.all(
  numbers.map(async (number) => {
    const { id } = await host.start({ workflow, input: { number }, cwd: dirname(workflow), idempotencyKey: `company-${number}` });
    return (await host.drive(id)).state;
  }),
);
await host.close();
console.log(states.join(" "));
