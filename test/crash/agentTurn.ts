import type { TurnMaker } from "../../src/testing.ts";

/** What the agent does in every turn: publishes, is refused once, and is accepted. */
export const agentTurn: TurnMaker = ({ delivery }) => ({ updates: [{ type: "note", data: delivery }], submits: ["four", 4] });
