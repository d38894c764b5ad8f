import { z } from 'zod';
import { CHANNEL_LIMITS, INPUT_LIMITS } from '../../contracts/constants/limits.js';
import { KeyReference } from './credentials.js';

const { blockCharsMaxMin, blockCharsMaxMax, idleMsMax, pauseMsMax, nameCharsMax, channelsMax } = CHANNEL_LIMITS;

/** Sizes of the messages of an answer, in characters. */
export const BlockOptions = z.strictObject({
  /** Size from which a message ends at the next paragraph. @default 600 */
  charsMin: z.number().int().min(1).max(blockCharsMaxMax).optional(),
  /** Longest message. @default 2,000 */
  charsMax: z.number().int().min(blockCharsMaxMin).max(blockCharsMaxMax).optional(),
  /** Time without new text after which the finished sentences are sent, in milliseconds. 0: never. @default 2 s */
  idleMs: z.number().int().min(0).max(idleMsMax).optional(),
});
export type BlockOptions = z.infer<typeof BlockOptions>;

const PauseMs = z.number().int().min(0).max(pauseMsMax);

/** How answers are sent to a channel, whatever its platform. */
export const ChannelOptions = z.strictObject({
  /** Name of the agent of its sessions. @default the default agent of the config */
  agent: z.string().max(INPUT_LIMITS.nameCharsMax).optional(),
  /**
   * `live`: while the model writes. What another attempt of an answer replaces is edited. `answers`: each answer when it is complete.
   * `final`: only the output of the run. @default live
   */
  send: z.enum(['live', 'answers', 'final']).optional(),
  /** Sizes of messages: `{ charsMin, charsMax, idleMs }`. */
  blocks: BlockOptions.optional(),
  /** Pause between two messages of an answer, in milliseconds: `{ minMs, maxMs }`. @default none */
  pause: z.strictObject({ minMs: PauseMs, maxMs: PauseMs }).optional(),
  /** Thinking is left out, sent in messages of its own, or left in the text. The last two send each answer when it is complete. @default suppressed */
  thinking: z.enum(['suppressed', 'separate', 'included']).optional(),
  /** An answer that is only this text is not sent. @default `NO_REPLY` */
  silentToken: z.string().min(1).max(100).optional(),
});
export type ChannelOptions = z.infer<typeof ChannelOptions>;

const Ids = z.array(z.string().min(1).max(100)).max(1_000);

/** A Slack app that sends its events to `perdure serve`, at `/channels/NAME`. */
export const SlackChannelDefinition = ChannelOptions.extend({
  /** The platform. */
  kind: z.literal('slack'),
  /** Reference to the signing secret of the app, such as `env:SLACK_SIGNING_SECRET`. */
  signingSecret: KeyReference,
  /** Reference to the token of the bot, such as `env:SLACK_BOT_TOKEN`. */
  botToken: KeyReference,
  /** `thread`: each thread is a session, and a message outside begins a thread. `channel`: a Slack channel is one session. @default thread */
  session: z.enum(['thread', 'channel']).optional(),
  /** Messages of channels that are answered: those that mention the app, or all. Direct messages are always answered. @default mentions */
  respondTo: z.enum(['mentions', 'all']).optional(),
  /** Ids of the Slack users who are answered. @default all */
  users: Ids.optional(),
  /** Address of the Web API. @default https://slack.com/api/ */
  apiUrl: z.string().max(INPUT_LIMITS.pathCharsMax).optional(),
  /** Allows plain `http://` to another machine. @default false */
  allowInsecure: z.boolean().optional(),
});
export type SlackChannelDefinition = z.infer<typeof SlackChannelDefinition>;

/** Chat channels by name. The name is part of session keys and of the address. */
export const ChannelsDefinition = z
  .record(
    z
      .string()
      .regex(/^[a-z][a-z0-9-]*$/u, 'use a lower-case letter, then letters, digits or -')
      .max(nameCharsMax),
    z.discriminatedUnion('kind', [SlackChannelDefinition]),
  )
  .refine((channels) => Object.keys(channels).length <= channelsMax, { error: `at most ${channelsMax} channels` });
export type ChannelsDefinition = z.infer<typeof ChannelsDefinition>;
