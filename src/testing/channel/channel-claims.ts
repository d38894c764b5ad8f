import { randomBytes } from 'node:crypto';
import type { SentMessage } from '../../channels/contract/channel.js';
import { ChannelError } from '../../channels/contract/channel-error.js';
import type { SendFailure, ShownMessage, TestedPlatform } from './tested-platform.js';

/** One claim that every channel must fulfil. */
export interface ChannelClaim {
  readonly title: string;
  /** Why the claim does not concern this channel. Undefined if it does. */
  readonly leftOut?: (platform: TestedPlatform) => string | undefined;
  /** Throws if the claim is not true. */
  check(platform: TestedPlatform): Promise<void>;
}

/** The claims of `testChannel`. Each needs a platform of its own. */
export const CHANNEL_CLAIMS: readonly ChannelClaim[] = [
  {
    title: 'a message that is sent is shown once, with its text and its id',
    async check(platform) {
      const { id } = await send(platform, 'Hello.');
      await expectShown(platform, ['Hello.']);
      expect((await platform.messages())[0]?.id === id, `the id ${id} is not that of the message`);
    },
  },
  {
    title: 'messages are shown in the order in which they are sent',
    async check(platform) {
      const texts = ['One.', 'Two.', 'Three.'];
      for (const text of texts) await send(platform, text);
      await expectShown(platform, texts);
    },
  },
  {
    title: 'a text of the longest length with any characters is shown whole',
    async check(platform) {
      const start = 'Ünïcödé 日本 👩‍👩‍👧 & <tags> "quotes"\nand a line. ';
      const text = start + 'x'.repeat(platform.channel.abilities.textCharsMax - start.length);
      await send(platform, text);
      await expectShown(platform, [text]);
    },
  },
  {
    title: 'a text that a model wrote notifies no one',
    async check(platform) {
      await send(platform, '@everyone @here @channel <!channel> <!here> <@U1>');
      expect(!(await platform.messages()).some(({ notifies = false }) => notifies), 'the text notified people');
    },
  },
  {
    title: 'a message that is edited has the new text at its place, also after a second edit with the same text',
    leftOut: ({ channel }) => (channel.edit ? undefined : 'it cannot edit'),
    async check(platform) {
      const { channel, conversation } = platform;
      const { id } = await send(platform, 'Old.');
      await send(platform, 'Next.');
      for (let time = 1; time <= 2; time += 1) await channel.edit?.({ conversation, id, text: 'New.' }, never());
      await expectShown(platform, ['New.', 'Next.']);
    },
  },
  {
    title: 'a message is shown once although its answer was lost: the same key is not sent twice',
    leftOut: ({ channel }) =>
      channel.abilities.deduplicates === 'never' ? 'it cannot deduplicate: people may see a message twice' : undefined,
    async check(platform) {
      const key = newKey();
      await platform.failNextSend('lost');
      await expectFailure(platform, 'uncertain', () => send(platform, 'Once.', key));
      const { id } = await sendAgain(platform, 'Once.', key);
      await expectShown(platform, ['Once.']);
      expect((await platform.messages())[0]?.id === id, 'the second attempt returned another id');
    },
  },
  {
    title: 'a message that was not sent is not found',
    leftOut: ({ channel }) => (channel.abilities.deduplicates === 'by-search' ? undefined : 'it does not search'),
    async check({ channel, conversation }) {
      expect(channel.find !== undefined, 'a channel that deduplicates by search has `find`');
      expect((await channel.find?.({ conversation, key: newKey() }, never())) === undefined, 'a message was found');
    },
  },
  failureClaim('rate-limited', 'a rate limit is reported with the wait that the platform requests, and sends nothing'),
  failureClaim('refused', 'a refusal is reported as one, and sends nothing'),
  failureClaim('unauthorized', 'a refused key is reported as one, without the key, and sends nothing'),
  {
    title: 'a send ends soon after its signal aborts',
    async check(platform) {
      const { channel, conversation } = platform;
      const sent = channel.send({ key: newKey(), conversation, text: 'Late.' }, AbortSignal.abort(new Error('stopped')));
      const error = await sent.then(() => undefined, caught);
      expect(error !== undefined, 'the send succeeded');
    },
  },
  {
    title: 'a typing indicator is no message',
    leftOut: ({ channel }) => (channel.typing ? undefined : 'it shows none'),
    async check(platform) {
      await platform.channel.typing?.(platform.conversation, never());
      await expectShown(platform, []);
    },
  },
];

function failureClaim(failure: Exclude<SendFailure, 'lost'>, title: string): ChannelClaim {
  return {
    title,
    async check(platform) {
      await platform.failNextSend(failure);
      const error = await expectFailure(platform, failure, () => send(platform, 'Not sent.'));
      if (failure === 'rate-limited') expect(error.retryAfterMs === 2_000, `retryAfterMs is ${error.retryAfterMs}, not 2000`);
      await expectShown(platform, []);
    },
  };
}

async function send({ channel, conversation }: TestedPlatform, text: string, key = newKey()): Promise<SentMessage> {
  return await channel.send({ key, conversation, text }, never());
}

/** Sends as the bridge does after an uncertain attempt. */
async function sendAgain(platform: TestedPlatform, text: string, key: string): Promise<SentMessage> {
  const { channel, conversation } = platform;
  const found = channel.abilities.deduplicates === 'by-search' ? await channel.find?.({ conversation, key }, never()) : undefined;
  return found ?? (await send(platform, text, key));
}

async function expectShown(platform: TestedPlatform, texts: readonly string[]): Promise<void> {
  const shown = (await platform.messages()).map(({ text }: ShownMessage) => text);
  expect(JSON.stringify(shown) === JSON.stringify(texts), `shown is ${excerpt(shown)}, not ${excerpt(texts)}`);
}

async function expectFailure({ secrets }: TestedPlatform, kind: ChannelError['kind'], work: () => Promise<unknown>): Promise<ChannelError> {
  const error = await work().then(() => undefined, caught);
  if (!(error instanceof ChannelError)) throw new Error(`a ChannelError of kind ${kind} is expected, got ${String(error)}`);
  expect(error.kind === kind, `the kind is ${error.kind}, not ${kind}`);
  const text = `${error.message} ${error.stack ?? ''} ${String(error.cause)}`;
  expect(!secrets.some((secret) => text.includes(secret)), 'the error has a secret');
  return error;
}

function caught(error: unknown): unknown {
  return error ?? new Error('rejected without an error');
}

function expect(isTrue: boolean, message: string): void {
  if (!isTrue) throw new Error(message);
}

function excerpt(texts: readonly string[]): string {
  return JSON.stringify(texts).slice(0, 300);
}

function newKey(): string {
  return randomBytes(16).toString('hex');
}

function never(): AbortSignal {
  return new AbortController().signal;
}
