/** How the tests run. `npm test` takes the projects `main` and `development`; the long ones have scripts of their own. */
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

// Without this Vite hands XState's development build to the workers, which is not the one that users run.
process.env["NODE_ENV"] = "production";

// Hundreds of tests start a process of Pawl's: two thirds of its time would be compiling.
process.env["NODE_COMPILE_CACHE"] ??= new URL("../node_modules/.cache/node", import.meta.url).pathname;

/** `pawl` means this checkout's sources, as in tsconfig.json. */
const inClone = "pawl-source";
const conditions = ["module", "node", inClone];

const long = ["test/crash/**", "test/races/**", "test/**/*.long.test.ts"];
const developmentBuild = ["test/xstate/{restoring,stepping,messages}.test.ts", "test/house/build.development.test.ts"];

/** A name, its files, and what differs from the common ground. */
function project(name: string, include: string[], test: { exclude?: string[]; testTimeout: number; maxWorkers?: number }, also: string[] = []) {
  return {
    resolve: { conditions: [...conditions, ...also] },
    ssr: { resolve: { conditions: [...conditions, ...also], externalConditions: ["node", inClone, ...also] } },
    test: {
      name,
      include,
      pool: "forks" as const, // "forks" alone widens to string and no longer fits
      // What a test's own children inherit must be what users have: no loader flags of the test runner's. The build is chosen here alone.
      execArgv: also.flatMap((condition) => ["--conditions", condition]),
      hookTimeout: test.testTimeout,
      teardownTimeout: 5_000,
      ...test,
    },
  };
}

export default defineConfig({
  root: new URL("..", import.meta.url).pathname,
  test: {
    passWithNoTests: false,
    // Many tests wait for processes: one worker more than processors keeps these busy.
    maxWorkers: availableParallelism() + 1,
    projects: [
      project("main", ["test/**/*.test.ts"], { exclude: [...long, "test/house/build.development.test.ts"], testTimeout: 20_000 }),
      project("development", developmentBuild, { testTimeout: 20_000 }, ["development"]),
      project("command", ["test/{cli,docs,e2e,host,house,model,types}/**/*.long.test.ts", "test/xstate/elsewhere.long.test.ts"], { testTimeout: 60_000 }),
      project("simulation", ["test/simulation/**/*.long.test.ts"], { testTimeout: 900_000 }),
      project("walk", ["test/xstate/walk.long.test.ts"], { testTimeout: 1_800_000 }),
      project("crash", ["test/crash/**/*.test.ts"], { testTimeout: 600_000 }),
      // One kind of race at a time: each keeps a host, its workers and two clients busy, and both sides of a race need their processor.
      project("races", ["test/races/**/*.test.ts"], { testTimeout: 600_000, maxWorkers: 1 }),
    ],
  },
});
