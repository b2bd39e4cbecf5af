/** Named moments at which a test or a simulation may end the process, or throw its runtime away. */

/** `before-commit`: written, not durable; `after-commit`: durable, nobody was told; `before-effect`: about to be called;
 *  `after-effect`: its result is there and not yet committed. */
export type FaultPoint = "before-commit" | "after-commit" | "before-effect" | "after-effect";

/** Called at each point with what it concerns: `commit <n>`, or an effect's key. A throw at an effect's point counts as the loss of its process. */
export type FaultHook = (point: FaultPoint, subject: string) => void;

/** The hook as a store takes it (`hooks` of openStore and memoryStore). */
export const commitFaults = (hook: FaultHook): { readonly beforeCommit: (number: number) => void; readonly afterCommit: (number: number) => void } => ({
  beforeCommit: (number) => hook("before-commit", `commit ${number}`),
  afterCommit: (number) => hook("after-commit", `commit ${number}`),
});
