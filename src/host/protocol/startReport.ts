/** How a new host tells the process that started it how it went: one line over an inherited pipe. */
import { z } from "zod";
import { WireError } from "./messages.ts";

/** Number of the pipe, in the new host's environment. */
export const reportVariable = "PAWL_HOST_REPORT_FD";

export const StartReport = z.discriminatedUnion("ready", [
  z.strictObject({ ready: z.literal(true), pid: z.int() }),
  /** `byHost`: the directory is owned by another host, which will answer soon, or has just gone. */
  z.strictObject({ ready: z.literal(false), error: WireError, byHost: z.boolean() }),
]);
export type StartReport = z.infer<typeof StartReport>;
