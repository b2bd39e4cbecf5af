/** The first words: which versions a client speaks, and whether host and client have one in common. Pure; HOST-44. */
import { z } from "zod";
import { PawlError } from "../../errors.ts";
import { firstIssue, type Envelope } from "./envelope.ts";
import { protocolVersions } from "./limits.ts";
import { malformed } from "./lines.ts";

const version = z.int().nonnegative();
const versions = z.strictObject({ min: version, max: version });

export const Hello = z.strictObject({
  versions,
  client: z.strictObject({
    /** The same as long as the client lives, however often it connects: what was asked under it is not done twice. */
    id: z.string().min(8).max(128),
    /** What it is: `pawl run`, …; for the log. No arguments: they may hold input. */
    name: z.string().min(1).max(64),
    /** Version of Pawl. */
    version: z.string().max(64),
  }),
});
export type Hello = z.infer<typeof Hello>;

/** All that is asked of the hello of a version that is not known. */
const AnyHello = z.looseObject({ versions: z.looseObject({ min: version, max: version }) });

export interface HostIdentity {
  readonly pid: number;
  readonly version: string;
}

/** The version to speak, and who it is with. @throws protocolMismatch saying which side is older and what to do; protocolBroken for what is no hello */
export function greet({ kind, body }: Envelope, host: HostIdentity, own: { readonly min: number; readonly max: number } = protocolVersions) {
  if (kind !== "hello") throw malformed(`"${kind.slice(0, 40)}" before its hello`, "kind");
  const any = AnyHello.safeParse(body);
  if (!any.success) throw malformed(`a hello that is wrong at "${firstIssue(any.error).path}"`, `body.${firstIssue(any.error).path}`);
  const { min, max } = any.data.versions;
  if (max < own.min)
    throw mismatch(
      host,
      own,
      { min, max },
      "This client is older than the host. Run the same Pawl as the host, or stop the host and let the older one start its own: `pawl host stop`",
    );
  if (min > own.max)
    throw mismatch(
      host,
      own,
      { min, max },
      "This client is newer than the host. Stop the host, and the next command starts a new one: `pawl host stop`, or end it with: kill " + String(host.pid),
    );
  const parsed = Hello.safeParse(body);
  if (!parsed.success)
    throw malformed(
      `a hello that is wrong at "${firstIssue(parsed.error).path}" (${firstIssue(parsed.error).problem})`,
      `body.${firstIssue(parsed.error).path}`,
    );
  return { version: Math.min(max, own.max), client: parsed.data.client };
}

const range = ({ min, max }: { readonly min: number; readonly max: number }): string => (min === max ? String(min) : `${min} to ${max}`);

const mismatch = (
  host: HostIdentity,
  own: { readonly min: number; readonly max: number },
  theirs: { readonly min: number; readonly max: number },
  way: string,
): PawlError =>
  new PawlError("protocolMismatch", `The host (process ${host.pid}, Pawl ${host.version}) speaks protocol ${range(own)}, the client ${range(theirs)}. ${way}`, {
    path: "body.versions",
  });
