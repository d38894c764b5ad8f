export { PerdureError } from '../contracts/perdure-error.js';
export { type BlockPause, pauseBefore } from './blocks/block-pause.js';
export { type Block, type BlockSizes, type SplitOptions, splitBlocks } from './blocks/split-blocks.js';
export { ChannelBridge, type ChannelBridgeOptions } from './bridge/channel-bridge.js';
export type {
  Channel,
  ChannelAbilities,
  EditedMessage,
  IncomingMessage,
  OutgoingMessage,
  SearchedMessage,
  SentMessage,
} from './contract/channel.js';
export { ChannelError, type ChannelErrorKind } from './contract/channel-error.js';
export type { ChannelJournal } from './journal/channel-journal.js';
export { FileJournal } from './journal/file-journal.js';
export type { JournalRecord } from './journal/journal-record.js';
export { type Reply, type ReplyOptions, readReply, type ThinkingMode } from './reply/read-reply.js';
export type { SlackApiOptions } from './slack/slack-api.js';
export { SlackChannel } from './slack/slack-channel.js';
export { type SlackWebhookOptions, slackWebhook, type Webhook, type WebhookAnswer } from './slack/slack-webhook.js';
