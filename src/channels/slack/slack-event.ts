import { z } from 'zod';
import type { IncomingMessage } from '../contract/channel.js';

/** Which messages of Slack are answered. */
export interface SlackRules {
  readonly session: 'thread' | 'channel';
  readonly respondTo: 'mentions' | 'all';
  /** @default all users */
  readonly users?: readonly string[] | undefined;
}

/** What a request of Slack is: a check of the address, a message, or something that is not answered. */
export type SlackEvent =
  | { readonly kind: 'challenge'; readonly challenge: string }
  | { readonly kind: 'message'; readonly message: IncomingMessage }
  | { readonly kind: 'ignored' };

const Timestamp = z.string().regex(/^\d{1,12}\.\d{1,9}$/u);

const MessageEvent = z.looseObject({
  type: z.enum(['message', 'app_mention']),
  channel: z.string().regex(/^[A-Z0-9]{1,40}$/u),
  channel_type: z.string().optional(),
  user: z.string(),
  ts: Timestamp,
  thread_ts: Timestamp.optional(),
  text: z.string().optional(),
  subtype: z.string().optional(),
  bot_id: z.string().optional(),
  files: z.array(z.looseObject({ name: z.string().nullish() })).optional(),
});
type MessageEvent = z.output<typeof MessageEvent>;

const Request = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('url_verification'), challenge: z.string().max(1_000) }),
  z.looseObject({
    type: z.literal('event_callback'),
    event: z.unknown(),
    authorizations: z.array(z.looseObject({ user_id: z.string().nullish() })).optional(),
  }),
]);

/** The subtypes of messages that a person wrote. All others are edits, deletions, notices and messages of bots. */
const WRITTEN = new Set([undefined, 'file_share', 'thread_broadcast']);

/** Reads a request of Slack whose signature was checked. What has another form is ignored. Never throws. */
export function readSlackEvent(body: unknown, rules: SlackRules): SlackEvent {
  const request = Request.safeParse(body).data;
  if (request?.type === 'url_verification') return { kind: 'challenge', challenge: request.challenge };
  const event = MessageEvent.safeParse(request?.event).data;
  if (!request || !event || !isAnswered(event, rules)) return { kind: 'ignored' };
  const bots = (request.authorizations ?? []).flatMap(({ user_id: id }) => (id ? [id] : []));
  return { kind: 'message', message: messageOf(event, { ...rules, bots }) };
}

function isAnswered(
  { type, channel_type: channelType, user, bot_id: bot, subtype }: MessageEvent,
  { respondTo, users }: SlackRules,
): boolean {
  if (bot !== undefined || !WRITTEN.has(subtype)) return false;
  if (users && !users.includes(user)) return false;
  return type === 'app_mention' || channelType === 'im' || respondTo === 'all';
}

function messageOf(event: MessageEvent, { session, bots }: SlackRules & { readonly bots: readonly string[] }): IncomingMessage {
  const { channel, channel_type: channelType, ts, thread_ts: thread, user, files = [] } = event;
  const isDirect = channelType === 'im';
  const isWhole = session === 'channel' || (isDirect && thread === undefined);
  const attached = files.map(({ name }) => `\n[attached file ${JSON.stringify(name ?? '')}, which cannot be read here]`).join('');
  const text = plainText(event.text ?? '', bots);
  return {
    id: `${channel}:${ts}`,
    conversation: isWhole ? channel : `${channel}:${thread ?? ts}`,
    text: `${isDirect ? '' : `<@${user}>: `}${text}${attached}`,
  };
}

/** The text without the mention of the app, and without Slack's escapes. */
function plainText(text: string, bots: readonly string[]): string {
  const mention = /^\s*<@(?<id>[A-Z0-9]+)(?:\|[^>]*)?>\s*/u.exec(text);
  const own = mention && bots.includes(mention.groups?.['id'] ?? '') ? text.slice(mention[0].length) : text;
  return own.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
