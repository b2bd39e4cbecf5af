/** The rooms of the house and which may import which: docs/spec.md HOUSE-1 as a table. */

export type Room =
  | "library"
  | "leaf"
  | "clock"
  | "machines"
  | "seam"
  | "persistence"
  | "stepping"
  | "runtime"
  | "workflow"
  | "protocol"
  | "host"
  | "client"
  | "cli"
  | "index"
  | "testing";

interface RoomRule {
  /** Paths from the root; the first room that fits a file is its room. */
  readonly files: RegExp;
  /** Rooms it may import at run time; its own is always among them. */
  readonly values: readonly Room[];
  /** Rooms of which it may import types besides. */
  readonly types: readonly Room[];
  /** npm packages and node: modules it may import: a list, or every one. */
  readonly packages: readonly string[] | "any";
  /** Fewest files a scan must see here: an empty scan must not pass. */
  readonly atLeast: number;
}

export const rooms: { readonly [R in Room]: RoomRule } = {
  // Machines of one's own, durable in this process: the runtime without workflows.
  library: {
    files: /^src\/openPawl\.ts$|^src\/library\//,
    values: ["leaf", "clock", "machines", "seam", "persistence", "stepping", "runtime"],
    types: [],
    packages: "any",
    atLeast: 5,
  },
  leaf: { files: /^src\/(?!index|testing)\w+\.ts$|^src\/text\//, values: [], types: [], packages: "any", atLeast: 2 },
  clock: { files: /^src\/runtime\/clock\.ts$/, values: [], types: [], packages: [], atLeast: 1 },
  machines: { files: /^machines\//, values: ["leaf"], types: [], packages: ["xstate", "zod"], atLeast: 4 },
  // What a commit is and what a store must do: the one file of persistence/ that others may know.
  seam: { files: /^persistence\/store\.ts$/, values: [], types: [], packages: [], atLeast: 1 },
  persistence: { files: /^persistence\//, values: ["leaf", "seam"], types: [], packages: "any", atLeast: 5 },
  // Machines and one step of them, without a store: what whoever writes a machine is checked by.
  stepping: {
    files: /^src\/runtime\/(authorRules|fit|logicKind|refs|step|stepDelays|stepRecords|stepScope|stepSnapshot)\.ts$/,
    values: ["leaf", "machines"],
    types: ["seam", "runtime"],
    packages: "any",
    atLeast: 8,
  },
  runtime: { files: /^src\/runtime\//, values: ["leaf", "clock", "machines", "seam", "stepping"], types: ["persistence"], packages: "any", atLeast: 8 },
  workflow: {
    files: /^src\/workflow\//,
    values: ["leaf", "clock", "machines", "seam", "stepping"],
    types: ["stepping", "runtime"],
    packages: "any",
    atLeast: 5,
  },
  // How a client and a host speak; of the host it knows what its views look like.
  protocol: { files: /^src\/host\/protocol\//, values: ["leaf", "clock", "machines"], types: ["seam", "host"], packages: "any", atLeast: 8 },
  host: {
    files: /^src\/host\//,
    values: ["leaf", "clock", "machines", "seam", "persistence", "stepping", "runtime", "workflow", "protocol"],
    types: [],
    packages: "any",
    atLeast: 5,
  },
  client: { files: /^src\/client\//, values: ["leaf", "clock", "protocol"], types: ["machines", "seam", "host"], packages: "any", atLeast: 3 },
  cli: { files: /^src\/cli\//, values: ["leaf", "clock", "protocol", "client", "host"], types: ["machines", "seam"], packages: "any", atLeast: 5 },
  index: {
    files: /^src\/index\.ts$/,
    values: ["library", "leaf", "clock", "machines", "seam", "persistence", "stepping", "runtime", "workflow", "host", "client"],
    types: [],
    packages: "any",
    atLeast: 1,
  },
  testing: {
    files: /^src\/testing(?:\.ts$|\/)/,
    values: ["leaf", "clock", "machines", "seam", "persistence", "stepping", "runtime", "workflow", "host"],
    types: [],
    packages: "any",
    atLeast: 1,
  },
};

/** The room of a file; undefined for one that stands in none. */
export function roomOf(path: string): Room | undefined {
  const names = Object.keys(rooms) as Room[]; // the keys of `rooms` are exactly Room
  return names.find((name) => rooms[name].files.test(path));
}
