/** For the tests of authors and embedders: `pawl/testing`. A store that ends with its process is `memoryStore` of `pawl/persistence`. */

// A clock that stands still until it is moved: deadlines of days are tests of milliseconds.
export { fakeClock, type FakeClock } from "./runtime/clock.ts";

// A machine of one's own, walked through as the durable runtime would.
export { testNode, type ChildEnd, type TestNodeOptions, type TestNodeReport } from "./testing/testNode.ts";

// An agent that does what a test says.
export { scriptedAgent, type ScriptedAgent, type ScriptedTurn, type TurnMaker } from "./testing/scriptedAgent.ts";

// A workflow, run in a directory of its own on such a clock, with such an agent and a simulated person; crashed and opened again at will.
export { openWorkflowTest, type GoOnOptions, type Person, type PersonAnswer, type WorkflowTest, type WorkflowTestOptions } from "./testing/workflowTest.ts";
