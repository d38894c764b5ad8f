import { z } from 'zod';
import type { Channel, EditedMessage, OutgoingMessage, SearchedMessage, SentMessage } from '../contract/channel.js';
import { ChannelError } from '../contract/channel-error.js';
import { SlackApi, type SlackApiOptions } from './slack-api.js';
import { slackText } from './slack-text.js';

const Posted = z.looseObject({ ts: z.string() });

const Listed = z.looseObject({
  messages: z.array(
    z.looseObject({
      ts: z.string(),
      metadata: z
        .looseObject({ event_type: z.string(), event_payload: z.looseObject({ key: z.string().optional() }).optional() })
        .optional(),
    }),
  ),
  response_metadata: z.looseObject({ next_cursor: z.string().optional() }).optional(),
});

/** The type of the metadata that has the key of a message. */
const EVENT_TYPE = 'perdure_message';

/** Pages that are searched for a key: 10,000 messages. */
const PAGES_MAX = 50;

/** The clock of Slack may be behind by this much. */
const CLOCK_SKEW_MS = 5 * 60_000;

/**
 * A channel of Slack, by its Web API. Slack drops no repeated message, so each message has its key in its metadata, and after an uncertain
 * send the messages since then are searched for it. The app needs the scopes `chat:write`, and `channels:history`, `groups:history`,
 * `im:history` and `mpim:history` for the kinds of conversations that it is in.
 */
export class SlackChannel implements Channel {
  /** Slack cuts longer texts; escapes may make a text five times as long. */
  readonly abilities = { deduplicates: 'by-search', textCharsMax: 8_000 } as const;
  readonly #api: SlackApi;

  constructor(options: SlackApiOptions) {
    this.#api = new SlackApi(options);
  }

  async send({ key, conversation, text, replyTo }: OutgoingMessage, signal: AbortSignal): Promise<SentMessage> {
    const { channel, thread } = placeOf(conversation, replyTo);
    const answer = await this.#api.call(
      'chat.postMessage',
      {
        channel,
        text: slackText(text),
        ...(thread === undefined ? {} : { thread_ts: thread }),
        unfurl_links: false,
        unfurl_media: false,
        metadata: { event_type: EVENT_TYPE, event_payload: { key } },
      },
      signal,
    );
    const posted = Posted.safeParse(answer).data;
    if (!posted) throw new ChannelError('uncertain', 'chat.postMessage: the answer has no ts');
    return { id: posted.ts };
  }

  async edit({ conversation, id, text }: EditedMessage, signal: AbortSignal): Promise<void> {
    await this.#api.call('chat.update', { channel: placeOf(conversation).channel, ts: id, text: slackText(text) }, signal);
  }

  async typing(conversation: string, signal: AbortSignal): Promise<void> {
    const { channel, thread } = placeOf(conversation);
    // Slack shows a status only in threads
    if (thread === undefined) return;
    await this.#api.call('assistant.threads.setStatus', { channel_id: channel, thread_ts: thread, status: 'is typing…' }, signal);
  }

  async find({ conversation, key, replyTo, since }: SearchedMessage, signal: AbortSignal): Promise<SentMessage | undefined> {
    const { channel, thread } = placeOf(conversation, replyTo);
    const method = thread === undefined ? 'conversations.history' : 'conversations.replies';
    const query = {
      channel,
      include_all_metadata: 'true',
      limit: '200',
      ...(thread === undefined ? {} : { ts: thread }),
      ...(since === undefined ? {} : { oldest: ((since - CLOCK_SKEW_MS) / 1_000).toFixed(6) }),
    };
    let cursor = '';
    for (let page = 1; page <= PAGES_MAX; page += 1) {
      const answer = Listed.safeParse(await this.#api.read(method, cursor === '' ? query : { ...query, cursor }, signal)).data;
      if (!answer) throw new ChannelError('uncertain', `${method}: the answer has no messages`);
      const found = answer.messages.find(({ metadata }) => metadata?.event_type === EVENT_TYPE && metadata.event_payload?.key === key);
      if (found) return { id: found.ts };
      cursor = answer.response_metadata?.next_cursor ?? '';
      if (cursor === '') return undefined;
    }
    return undefined;
  }
}

/** The Slack channel of a conversation, and the thread: its own, else that of the message that is replied to. */
function placeOf(conversation: string, replyTo?: string): { readonly channel: string; readonly thread?: string } {
  const [channel = '', own] = conversation.split(':');
  const [, replied] = replyTo?.split(':') ?? [];
  const thread = own ?? replied;
  return { channel, ...(thread === undefined ? {} : { thread }) };
}
