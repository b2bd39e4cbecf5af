/** For the tests of authors and embedders: `pawl/testing`. */

// A clock that stands still until it is moved, and a store that ends with its process: deadlines of days are tests of milliseconds.
export { fakeClock, type FakeClock } from "./runtime/clock.ts";
export { memoryStore } from "../persistence/memoryStore.ts";
