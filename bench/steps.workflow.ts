/** What the benchmarks run: twenty trivial steps in a row. */
import { compute, workflow } from "pawl";
import { z } from "zod";

const text = "x".repeat(200);
const step = (i: number) => compute(() => ({ i, text }));

export default workflow({ name: "twenty", input: z.object({}) })
  .node("s1", step(1), "s2")
  .node("s2", step(2), "s3")
  .node("s3", step(3), "s4")
  .node("s4", step(4), "s5")
  .node("s5", step(5), "s6")
  .node("s6", step(6), "s7")
  .node("s7", step(7), "s8")
  .node("s8", step(8), "s9")
  .node("s9", step(9), "s10")
  .node("s10", step(10), "s11")
  .node("s11", step(11), "s12")
  .node("s12", step(12), "s13")
  .node("s13", step(13), "s14")
  .node("s14", step(14), "s15")
  .node("s15", step(15), "s16")
  .node("s16", step(16), "s17")
  .node("s17", step(17), "s18")
  .node("s18", step(18), "s19")
  .node("s19", step(19), "s20")
  .node("s20", step(20))
  .build();
