/** Who may answer the decisions of an audience, as the private configuration says. DEC-23 to DEC-25. */
import { join } from "node:path";
import type { ChannelsFile } from "./channelsFile.ts";
import { readPrivateFile } from "./privateFile.ts";

export const channelsFileName = "channels.json";

export interface AudiencePolicy {
  /** Channels that show its decisions: `pi`, `telegram:<profile>`. */
  readonly channels: readonly string[];
  /** One of them is enough, or all must show it. */
  readonly deliver: "any" | "all";
  /** Terminals of this machine may answer. */
  readonly local: boolean;
  /** The configuration, where there is one, names it. */
  readonly isNamed: boolean;
}

/** Without a configuration. */
export const localOnly: AudiencePolicy = { channels: [], deliver: "any", local: true, isNamed: true };

const unnamed: AudiencePolicy = { ...localOnly, isNamed: false };

export interface Audiences {
  /** @throws configurationRefused when the configuration cannot be used: nobody may answer by what it does not say */
  policy(audience: string): Promise<AudiencePolicy>;
}

/** Those of a state directory: its configuration is read again when it has changed. */
export class ConfiguredAudiences implements Audiences {
  private readonly path: string;
  private known: { readonly version: string; readonly file: ChannelsFile } | null = null;

  constructor(home: string) {
    this.path = join(home, channelsFileName);
  }

  async policy(audience: string): Promise<AudiencePolicy> {
    const file = await this.read();
    if (file === null) return localOnly;
    const named = Object.hasOwn(file.audiences, audience) ? file.audiences[audience] : undefined;
    return named === undefined ? unnamed : { channels: named.channels, deliver: named.deliver, local: named.local, isNamed: true };
  }

  /** Null without a configuration. @throws configurationRefused */
  async read(): Promise<ChannelsFile | null> {
    const read = readPrivateFile(this.path);
    if (read === null) return null;
    if (this.known?.version !== read.version) {
      // Only here: most state directories have none, and lists are read without a validator.
      const { parseChannels } = await import("./channelsFile.ts");
      this.known = { version: read.version, file: parseChannels(read.text, this.path) };
    }
    return this.known.file;
  }
}

/** Whether an answer that came by `channel` counts for this audience. What is no channel of the configuration is a terminal of this machine, or a program of its user. */
export function mayAnswer({ channels, local }: AudiencePolicy, channel: string): boolean {
  return channels.includes(channel) || (local && !channel.startsWith("telegram:"));
}
