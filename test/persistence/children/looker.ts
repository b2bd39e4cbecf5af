/** Reads a state directory beside its owner for ever and says what it sees: `saw 17`. Argument: home. */
import { setImmediate as next } from "node:timers/promises";
import { openStore } from "../../../persistence/index.ts";

const { store } = await openStore({ home: process.argv[2] ?? "", mode: "reader" });
for (let seen = -1; ; await next()) {
  const [actor] = await store.load(["a"]);
  await store.journal("a", 1, 1_000);
  const revision = actor?.revision ?? 0;
  if (revision < seen) throw new Error(`went back from ${seen} to ${revision}`);
  if (revision > seen) process.stdout.write(`saw ${revision}\n`);
  seen = revision;
}
