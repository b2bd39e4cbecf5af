/** The workflows that have a name where a person stands. Looks at directories alone: no file is loaded. */
import { homedir } from "node:os";
import { everyWorkflow, type ListedWorkflow } from "../workflow/find.ts";

export type { ListedWorkflow } from "../workflow/find.ts";

/** Every one, hidden ones too. `cwd`: where the person stands. */
export const namedWorkflows = (cwd: string): readonly ListedWorkflow[] => everyWorkflow({ cwd, home: homedir() });
