import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { channelSettings } from '../../../../src/channels/bridge/channel-settings.js';
import { deliverRun } from '../../../../src/channels/bridge/deliver-run.js';
import { Outbox } from '../../../../src/channels/bridge/outbox.js';
import { pacedUpdates } from '../../../../src/channels/bridge/paced-updates.js';
import { type AnswerUpdate, runAnswers } from '../../../../src/channels/bridge/run-answers.js';
import { FileJournal } from '../../../../src/channels/journal/file-journal.js';
import { JournaledState } from '../../../../src/channels/journal/journaled-state.js';
import type { WatchItem } from '../../../../src/client/watch/watch-run.js';
import { NO_USAGE } from '../../../../src/contracts/models/usage.js';
import type { Message } from '../../../../src/contracts/schemas/message.js';
import type { TranscriptPage } from '../../../../src/contracts/schemas/page.js';
import type { Reason, RunResult } from '../../../../src/contracts/schemas/run.js';
import type { ChannelOptions } from '../../../../src/define/worker/channels.js';
import type { StreamEventBody } from '../../../../src/streams/stream.js';
import { latch, until } from '../../../support/use-workers.js';

let folder = '';
let journaled: JournaledState;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'perdure-deliver-'));
  journaled = await JournaledState.open(new FileJournal(join(folder, 'journal.jsonl')));
});
afterEach(async () => {
  await journaled.close();
  await rm(folder, { recursive: true, force: true });
});

function growing(answer: string, text: string): AnswerUpdate {
  return { type: 'growing', answer, text };
}

function settled(answer: string, text: string, isPartial = false): AnswerUpdate {
  return { type: 'settled', answer, text, thinking: '', isPartial };
}

function result(reason: Reason, output = ''): AnswerUpdate {
  return { type: 'result', result: resultOf(reason, output) };
}

function resultOf(reason: Reason, output: string): RunResult {
  const counts = { turns: 1, toolCalls: 0, usage: NO_USAGE, models: [], unconsumed: [] };
  return { v: 1, runId: 'r', executionId: 'e', reason, output, ...counts };
}

function streamed(seq: number, body: StreamEventBody): WatchItem {
  return { type: 'stream', event: { runId: 'r', turn: 1, attempt: 1, epoch: 1, seq, id: String(seq), ...body } };
}

/** What a conversation shows of a run with these updates. */
async function shownOf(
  updates: AsyncIterable<AnswerUpdate>,
  options: ChannelOptions = {},
  onSend?: () => Promise<void>,
): Promise<string[]> {
  const shown: string[] = [];
  const { signal } = new AbortController();
  const channel = {
    abilities: { deduplicates: 'by-key', textCharsMax: 4_000 },
    send: async ({ text }: { readonly text: string }) => {
      await onSend?.();
      shown.push(text);
      return { id: String(shown.length - 1) };
    },
    edit: ({ id, text }: { readonly id: string; readonly text: string }) => {
      shown[Number(id)] = text;
      return Promise.resolve();
    },
  } as const;
  const outbox = new Outbox({ name: 'team', channel, journaled, pause: { minMs: 0, maxMs: 0 }, report: String, signal });
  const sent = journaled.state.blocks.bind(journaled.state);
  const run = { conversation: 'c', runId: 'r', settings: channelSettings(options, 4_000), messageIds: ['m'], answers: 'm' };
  await deliverRun({ ...run, outbox, sent, updates: () => updates });
  return shown;
}

async function* each(...updates: readonly AnswerUpdate[]): AsyncGenerator<AnswerUpdate> {
  yield* updates;
}

const CANCELLED = 'This was cancelled.';

/** Long beside the time after which a text has stopped arriving, and beside the one between two looks at a text. */
const SLOW_MS = 200;

describe('deliverRun', () => {
  it('C-35: the answer that a stop interrupted is sent as far as it goes', async () => {
    expect(await shownOf(each(growing('1', 'It is'), settled('1', 'It is se', true), result('cancelled')))).toEqual([
      'It is se',
      CANCELLED,
    ]);
  });

  it('the output of a stopped run that is its interrupted answer is sent once', async () => {
    const updates = [settled('2', 'It is se', true), result('cancelled', 'It is se')];
    expect(await shownOf(each(...updates))).toEqual(['It is se', CANCELLED]);
  });

  it('`final` sends the output of a stopped run', async () => {
    const updates = [settled('3', 'It is se', true), result('cancelled', 'It is se')];
    expect(await shownOf(each(...updates), { send: 'final' })).toEqual(['It is se', CANCELLED]);
  });

  it('tokens of an answer that no transcript has are sent when the run stops', async () => {
    expect(await shownOf(each(growing('4', 'It is'), result('cancelled')))).toEqual(['It is', CANCELLED]);
  });

  it('an interrupted answer that the run continued behind is not sent', async () => {
    const updates = [
      settled('5', 'It is se', true),
      growing('6', 'Oh, a'),
      settled('6', 'Oh, another.'),
      result('completed', 'Oh, another.'),
    ];
    expect(await shownOf(each(...updates))).toEqual(['Oh, another.']);
  });

  it.each(['its stream', 'an event'])(
    'an answer whose end %s tells is sent as a whole, also if its transcript takes long to read',
    async (by) => {
      const text = 'One sentence. Two is not finished';
      const [begin, words, end] = [streamed(1, { type: 'reset' }), streamed(2, { type: 'text', text }), streamed(3, { type: 'end' })];
      const completed: WatchItem = {
        type: 'event',
        event: { seq: 1, at: 0, type: 'model.completed', turn: 1, model: 'fake/model', stop: 'end', usage: NO_USAGE, text },
      };
      async function* watch(): AsyncGenerator<WatchItem> {
        yield* by === 'an event' ? [begin, words, completed, end] : [begin, words, end];
        await delay(SLOW_MS);
        yield* by === 'an event' ? [] : [completed];
        yield { type: 'result', result: resultOf('completed', text) };
      }
      async function* transcript(): AsyncGenerator<TranscriptPage> {
        await delay(SLOW_MS);
        const message: Message = { id: 'm1', role: 'assistant', parts: [{ type: 'text', text }], turn: 1 };
        yield { from: 0, next: 1, length: 1, digest: '', messages: [message] };
      }
      const { signal } = new AbortController();
      expect(await shownOf(runAnswers({ runId: 'r', watch, transcript }, signal), { blocks: { idleMs: 1 } })).toEqual([text]);
    },
  );

  it('the tokens of a run are read while a slow platform takes a block, and only the last text is kept', async () => {
    const held = latch();
    let read = 0;
    async function* tokens(): AsyncGenerator<AnswerUpdate> {
      yield growing('7', `${'One. '.repeat(40)}\n\nTwo`);
      await until(() => isHeld, 'a block is on its way');
      for (; read < 5_000; read += 1) yield growing('7', `${'One. '.repeat(40)}\n\nTwo ${read}`);
      yield settled('7', `${'One. '.repeat(40)}\n\nTwo.`);
      yield result('completed', '');
    }
    let isHeld = false;
    const shown = shownOf(tokens(), { blocks: { charsMin: 100, charsMax: 300 } }, async () => {
      isHeld = true;
      await held.opened;
    });
    await until(() => read === 5_000, 'all tokens are read');
    held.open();
    expect(await shown).toEqual(['One. '.repeat(40).trim(), 'Two.']);
  });
});

describe('pacedUpdates', () => {
  it('of the tokens that come at once, only the last one is read', async () => {
    const tokens = Array.from({ length: 20_000 }, (_, index) => growing('1', 'x'.repeat(index % 7) + String(index)));
    const seen: (AnswerUpdate | 'idle')[] = [];
    const pace = { growEveryMs: 60_000, idleMs: () => undefined };
    for await (const update of pacedUpdates(() => each(...tokens, settled('1', 'all'), result('completed')), pace)) seen.push(update);
    expect(seen.length).toBeLessThanOrEqual(4);
    expect(seen.slice(-2)).toEqual([settled('1', 'all'), result('completed')]);
  });

  it('yields idle once when nothing comes, and then what comes', async () => {
    const held = latch();
    async function* slow(): AsyncGenerator<AnswerUpdate> {
      yield growing('1', 'one');
      await held.opened;
      yield settled('1', 'one two');
    }
    const seen: unknown[] = [];
    for await (const update of pacedUpdates(slow, { growEveryMs: 1, idleMs: () => 5 })) {
      seen.push(update);
      if (update === 'idle') setTimeout(() => held.open(), 30);
    }
    expect(seen).toEqual([growing('1', 'one'), 'idle', settled('1', 'one two')]);
  });

  it('passes the error of the updates on, after those before it, and ends them when their reader ends', async () => {
    async function* failing(): AsyncGenerator<AnswerUpdate> {
      yield settled('1', 'one');
      throw new Error('gone');
    }
    const seen: unknown[] = [];
    const read = async (): Promise<void> => {
      for await (const update of pacedUpdates(failing, { growEveryMs: 1, idleMs: () => undefined })) seen.push(update);
    };
    await expect(read()).rejects.toThrow('gone');
    expect(seen).toEqual([settled('1', 'one')]);
    let isAborted = false;
    async function* endless(signal: AbortSignal): AsyncGenerator<AnswerUpdate> {
      yield settled('1', 'one');
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve());
      });
      isAborted = true;
    }
    for await (const update of pacedUpdates(endless, { growEveryMs: 1, idleMs: () => undefined })) if (update !== 'idle') break;
    expect(isAborted).toBe(true);
  });
});
