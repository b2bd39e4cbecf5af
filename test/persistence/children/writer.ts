/** Owns a state directory and commits steps of one actor for ever, saying each one that was acknowledged: `committed 17`.
 *  Arguments: home, and the number of the transaction at which it kills itself (0: never) before or after the commit. */
import { openStore } from "../../../persistence/index.ts";
import { blobOf, stepOf, timerOf } from "../../contract/storeRecords.ts";

const [home = "", at = "0", when = "before"] = process.argv.slice(2);
const die = (number: number): void => {
  if (number === Number(at)) process.kill(process.pid, "SIGKILL");
};
const { store } = await openStore({ home, mode: "owner", hooks: when === "before" ? { beforeCommit: die } : { afterCommit: die } });
const [actor] = await store.load(["a"]);
for (let revision = (actor?.revision ?? 0) + 1; ; revision += 1) {
  const [result] = await store.commit([
    stepOf("a", revision, {
      blobs: [blobOf(`${revision}`.repeat(3_000))],
      timers: [
        { op: "set", timer: timerOf("a", `t${revision}`, { revision }) },
        { op: "clear", actor: "a", key: `t${revision - 1}` },
      ],
    }),
  ]);
  if (result?.status !== "committed") throw new Error(JSON.stringify(result));
  process.stdout.write(`committed ${revision}\n`);
}
