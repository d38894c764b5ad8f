import { describe, expect, it } from 'vitest';
import { RunMessages } from '../../../src/client/watch/run-messages.js';
import { HTTP_LIMITS } from '../../../src/contracts/constants/limits.js';
import type { Message } from '../../../src/contracts/schemas/message.js';
import type { TranscriptPage } from '../../../src/contracts/schemas/page.js';
import { latch } from '../../support/use-workers.js';

/** A transcript that a test changes, in pages of two messages. It counts how often it is read. */
class Transcript {
  messages: Message[] = [];
  reads = 0;
  /** Holds the next page back. */
  gate: Promise<void> = Promise.resolve();

  async *transcript({ from = 0 }: { readonly from?: number } = {}): AsyncGenerator<TranscriptPage> {
    this.reads += 1;
    for (let at = from; at < this.messages.length; at += 2) {
      const messages = this.messages.slice(at, at + 2);
      await this.gate;
      yield { from: at, next: at + messages.length, length: this.messages.length, digest: '', messages };
    }
  }
}

function message(id: string, text = id): Message {
  return { id, role: 'user', parts: [{ type: 'text', text }] };
}

async function idsOf(messages: RunMessages, has: (kept: readonly Message[]) => boolean = () => false): Promise<string[]> {
  return (await messages.until(has)).map(({ id }) => id);
}

describe('RunMessages', () => {
  it('reads each message once, and not at all while it has what is asked for', async () => {
    const transcript = new Transcript();
    const messages = new RunMessages(transcript);
    transcript.messages = ['a', 'b', 'c'].map((id) => message(id));
    expect(await idsOf(messages)).toEqual(['a', 'b', 'c']);
    transcript.messages.push(message('d'));
    expect(await idsOf(messages, (kept) => kept.some(({ id }) => id === 'b'))).toEqual(['a', 'b', 'c']);
    expect(transcript.reads).toBe(1);
    expect(await idsOf(messages, (kept) => kept.some(({ id }) => id === 'd'))).toEqual(['a', 'b', 'c', 'd']);
    expect(transcript.reads).toBe(2);
  });

  it('shares a read among all who ask during the one before, which may have begun too early for them', async () => {
    const transcript = new Transcript();
    const held = latch();
    transcript.gate = held.opened;
    transcript.messages = [message('a')];
    const messages = new RunMessages(transcript);
    const first = idsOf(messages);
    transcript.messages.push(message('b'));
    const later = Array.from({ length: 100 }, () => idsOf(messages, (kept) => kept.some(({ id }) => id === 'b')));
    held.open();
    await first;
    for (const ids of await Promise.all(later)) expect(ids).toEqual(['a', 'b']);
    expect(transcript.reads).toBe(2);
  });

  it('keeps what a compaction removes, and reads what follows it', async () => {
    const transcript = new Transcript();
    const messages = new RunMessages(transcript);
    transcript.messages = ['a', 'b', 'c'].map((id) => message(id));
    await idsOf(messages);
    transcript.messages = ['summary', 'c', 'd', 'e', 'f'].map((id) => message(id));
    expect(await idsOf(messages)).toEqual(['a', 'b', 'c', 'summary', 'd', 'e', 'f']);
    transcript.messages = [message('short')];
    expect(await idsOf(messages)).toEqual(['a', 'b', 'c', 'summary', 'd', 'e', 'f', 'short']);
  });

  it('is bounded: the oldest messages leave first', async () => {
    const transcript = new Transcript();
    const messages = new RunMessages(transcript);
    transcript.messages = Array.from({ length: 12 }, (_, index) =>
      message(`m${index}`, 'x'.repeat(HTTP_LIMITS.followedMessagesBytesMax / 8)),
    );
    const kept = await idsOf(messages);
    expect(kept.length).toBeLessThanOrEqual(8);
    expect(kept.at(-1)).toBe('m11');
  });

  it('a read that fails is the error of who asked, and the next one is tried again', async () => {
    const transcript = new Transcript();
    const messages = new RunMessages(transcript);
    transcript.messages = [message('a')];
    transcript.gate = Promise.reject(new Error('no worker'));
    const failed = await Promise.allSettled([idsOf(messages), idsOf(messages)]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    transcript.gate = Promise.resolve();
    expect(await idsOf(messages)).toEqual(['a']);
  });
});
