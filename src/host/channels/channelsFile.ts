/** `channels.json` in the state directory: which channels show the decisions of an audience, and who may answer there. */
import { z } from "zod";
import { identifier, parsed, plainString } from "../../../machines/contracts/strings.ts";
import { messageOf, PawlError } from "../../errors.ts";

const profileName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, "a profile's name is letters, digits, _ or -, at most 64 characters");
const channelName = z.string().regex(/^(pi|telegram:[A-Za-z0-9][A-Za-z0-9_-]{0,63})$/, 'a channel is "pi" or "telegram:" and the name of a profile');
const telegramId = z.int();

export const ChannelAudience = z
  .strictObject({
    /** Beside the terminals of this machine. */
    channels: z
      .array(channelName)
      .max(32)
      .refine((names) => new Set(names).size === names.length, { error: "names a channel twice" })
      .default([]),
    accept: z.literal("first-valid-answer").default("first-valid-answer"),
    /** Whether one of the channels must show a decision, or all of them. */
    deliver: z.enum(["any", "all"]).default("any"),
    /** Terminals of this machine may answer too. */
    local: z.boolean().default(true),
  })
  .refine(({ channels, local }) => local || channels.length > 0, {
    error: "nobody could answer: local is false and there is no channel. Name a channel, or set local to true",
    path: ["channels"],
  });

export const TelegramProfile = z.strictObject({
  /** Name of the bot's token in credentials.json. */
  credential: plainString({ min: 1, max: 64 }),
  /** Who may answer, by their numbers. */
  users: z.array(telegramId.min(1)).min(1).max(256),
  /** Where: chats whose numbers Telegram gives, negative for groups. */
  chats: z.array(telegramId).min(1).max(64),
  /** Number of a forum's topic. */
  topic: telegramId.min(1).exactOptional(),
});

export const ChannelsFile = z
  .strictObject({
    schema: z.literal("pawl.channels.v1"),
    audiences: z.record(identifier, ChannelAudience).default({}),
    telegram: z.record(profileName, TelegramProfile).default({}),
  })
  .superRefine(({ audiences, telegram }, context) => {
    for (const [name, { channels }] of Object.entries(audiences))
      for (const [at, channel] of channels.entries()) {
        const profile = /^telegram:(.*)$/.exec(channel)?.[1];
        if (profile !== undefined && !Object.hasOwn(telegram, profile))
          context.addIssue({
            code: "custom",
            path: ["audiences", name, "channels", at],
            message: `names the profile "${profile}", which telegram does not have`,
          });
      }
  });
export type ChannelsFile = z.infer<typeof ChannelsFile>;

/** A record of JavaScript would lose this name without a word, and with it what was said of an audience. */
function noPrototype(key: string, value: unknown): unknown {
  if (key === "__proto__") throw new Error('it uses the name "__proto__". Give it another name');
  return value;
}

/** @throws configurationRefused with the path of the wrong field */
export function parseChannels(text: string, file: string): ChannelsFile {
  try {
    return parsed(ChannelsFile, JSON.parse(text, noPrototype), "channels");
  } catch (error) {
    const path = error instanceof PawlError ? error.path : undefined;
    throw new PawlError("configurationRefused", `The private configuration ${file} is not used: ${messageOf(error)}`, {
      subject: file,
      cause: error,
      ...(path === undefined ? {} : { path }),
    });
  }
}
