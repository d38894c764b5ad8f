import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { channelSettings } from '../../../../src/channels/bridge/channel-settings.js';
import { serveConversation } from '../../../../src/channels/bridge/conversation.js';
import { MessageOutcomes } from '../../../../src/channels/bridge/message-outcomes.js';
import { Outbox } from '../../../../src/channels/bridge/outbox.js';
import type { AnsweringRun } from '../../../../src/channels/bridge/run-answers.js';
import type { Channel, OutgoingMessage } from '../../../../src/channels/contract/channel.js';
import { FileJournal } from '../../../../src/channels/journal/file-journal.js';
import { JournaledState } from '../../../../src/channels/journal/journaled-state.js';
import type { WatchItem } from '../../../../src/client/watch/watch-run.js';
import { NO_USAGE } from '../../../../src/contracts/models/usage.js';
import { PerdureError } from '../../../../src/contracts/perdure-error.js';
import type { Message } from '../../../../src/contracts/schemas/message.js';
import type { SessionEvent, SessionEventBody, SessionRun, SessionState } from '../../../../src/contracts/schemas/session.js';
import { until } from '../../../support/use-workers.js';

let folder = '';
let journaled: JournaledState;
let sent: OutgoingMessage[] = [];
let reports: string[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'perdure-conversation-'));
  journaled = await JournaledState.open(new FileJournal(join(folder, 'journal.jsonl')));
  sent = [];
  reports = [];
});
afterEach(async () => {
  await journaled.close();
  await rm(folder, { recursive: true, force: true });
});

const CHANNEL: Channel = {
  abilities: { deduplicates: 'by-key', textCharsMax: 4_000 },
  send: (message) => {
    sent.push(message);
    return Promise.resolve({ id: `sent-${sent.length}` });
  },
};

/** A session that answered each message by a run of its own, and lists what a session lists: the last 50 runs. */
class Answered {
  readonly #events: SessionEvent[] = [];
  readonly #runs: SessionRun[] = [];
  /** Events that the session no longer keeps. */
  forgotten = 0;

  run(...messageIds: readonly string[]): void {
    const runId = `r/${this.#runs.length + 1}`;
    this.#runs.push({ runId, messageIds, reason: 'completed' });
    this.#add({ type: 'session.run.started', runId, messageIds });
    this.#add({ type: 'session.run.ended', runId, messageIds, reason: 'completed' });
  }

  drop(id: string, reason: string): void {
    this.#add({ type: 'message.dropped', id, reason });
  }

  query(): Promise<SessionState> {
    return Promise.resolve({ key: 'k', queued: [], runs: this.#runs.slice(-50), dropped: [] });
  }

  events({ after, types }: { readonly after: number; readonly types: readonly string[] }) {
    const kept = this.#events.slice(this.forgotten);
    const page = kept.filter(({ seq }) => seq > after).slice(0, 20);
    const next = page.at(-1)?.seq ?? Math.max(after, this.forgotten);
    return Promise.resolve({ first: this.forgotten + 1, next, events: page.filter(({ type }) => types.includes(type)) });
  }

  #add(body: SessionEventBody): void {
    this.#events.push({ seq: this.#events.length + 1, at: 0, ...body });
  }
}

/** A run whose only answer is its id. */
function runOf(runId: string): AnsweringRun {
  const answer: Message = { id: `${runId}-1`, role: 'assistant', turn: 1, parts: [{ type: 'text', text: `Answer of ${runId}.` }] };
  return {
    runId,
    async *transcript() {
      yield { from: 0, total: 1, generation: 0, messages: [answer] } as never;
    },
    async *watch(): AsyncGenerator<WatchItem> {
      const counts = { turns: 1, toolCalls: 0, usage: NO_USAGE, models: [], unconsumed: [] };
      yield { type: 'result', result: { v: 1, runId, executionId: 'e', reason: 'completed', output: `Answer of ${runId}.`, ...counts } };
    },
  };
}

function report(line: string): void {
  reports.push(line);
}

function typing(): Promise<void> {
  return Promise.resolve();
}

/** A run of which the server has nothing. */
function goneRun(runId: string): AnsweringRun {
  const gone = (): never => {
    throw new PerdureError('RUN_NOT_FOUND', `no run ${runId}`, 3);
  };
  return { runId, transcript: gone, watch: gone };
}

async function received(...ids: readonly string[]): Promise<void> {
  for (const id of ids) await journaled.add({ type: 'received', conversation: 'c', id, at: 1 });
}

async function serve(
  session: Answered,
  run: (runId: string) => AnsweringRun = runOf,
  signal = new AbortController().signal,
): Promise<void> {
  const outbox = new Outbox({ name: 'team', channel: CHANNEL, journaled, pause: { minMs: 0, maxMs: 0 }, report, signal });
  const settings = channelSettings({}, 4_000);
  await serveConversation({ conversation: 'c', session, runOf: run, journaled, outbox, settings, typing, report, signal });
}

describe('serveConversation', () => {
  it('C-38: a run that the server no longer has is reported once, and the next message is answered', async () => {
    const session = new Answered();
    session.run('m1');
    session.run('m2');
    await received('m1', 'm2');
    await serve(session, (runId) => (runId === 'r/1' ? goneRun(runId) : runOf(runId)));
    expect(sent.map(({ text, replyTo }) => [text, replyTo])).toEqual([
      ['The answer to your message is no longer kept.', 'm1'],
      ['Answer of r/2.', undefined],
    ]);
    expect(reports).toEqual([expect.stringMatching(/^ANSWER_GONE: conversation c: run r\/1 is no longer kept/u)]);
    expect(journaled.state.open).toEqual([]);
  });

  it('C-38: messages whose runs are no longer listed are answered, in order, from the events of the session', async () => {
    const session = new Answered();
    const ids = Array.from({ length: 60 }, (_, index) => `m${index + 1}`);
    for (const id of ids) session.run(id);
    await received(...ids);
    await serve(session);
    expect(sent.map(({ text }) => text)).toEqual(ids.map((_, index) => `Answer of r/${index + 1}.`));
    expect(reports).toEqual([]);
  });

  it('the journal keeps what the session decided, for a bridge that starts after the session forgot it', async () => {
    const session = new Answered();
    session.run('m1');
    session.drop('m2', 'unsent');
    await received('m1', 'm2');
    await new MessageOutcomes({ conversation: 'c', session, journaled }).learn(await session.query());
    const path = join(folder, 'journal.jsonl');
    await journaled.close();
    journaled = await JournaledState.open(new FileJournal(path));
    await serve(new Answered());
    expect(sent.map(({ text }) => text)).toEqual(['Answer of r/1.', 'Your message was not answered: it was withdrawn.']);
  });

  it('what the session decides while an answer is sent is learned before the session forgets it', async () => {
    const session = new Answered();
    await received('m1');
    const outcomes = new MessageOutcomes({ conversation: 'c', session, journaled });
    const stop = new AbortController();
    const following = outcomes.follow(stop.signal, 5);
    session.run('m1');
    await until(() => journaled.state.outcomesIn('c').size === 1, 'the outcome is learned');
    stop.abort();
    await following;
    expect([...journaled.state.outcomesIn('c')]).toEqual([['m1', { run: 'r/1' }]]);
  });

  it('a message that the session does not list is reported as lost only if the session keeps all its events', async () => {
    const session = new Answered();
    session.run('other');
    await received('m1');
    await serve(session);
    session.forgotten = 1;
    await received('m2');
    await serve(session);
    expect(sent.map(({ text }) => text)).toEqual([
      'Your message was not answered: it was lost.',
      'Your message is no longer listed. If it was not answered, send it again.',
    ]);
    expect(reports).toEqual([expect.stringMatching(/^MESSAGE_MISSING: .* m1$/u), expect.stringMatching(/^MESSAGE_MISSING: .* m2$/u)]);
  });

  it('people do not see the reason of a drop that is for operators', async () => {
    const session = new Answered();
    session.drop('m1', 'Signature.Bad: key /srv/keys/owner of 10.0.0.1');
    await received('m1');
    await serve(session);
    expect(sent.map(({ text }) => text)).toEqual(['Your message was not answered. An operator can see the cause.']);
    expect(reports).toEqual([expect.stringContaining('/srv/keys/owner')]);
  });

  it('another run with the id of one that is no longer kept has blocks with keys of their own', async () => {
    for (const id of ['m1', 'm2']) {
      const session = new Answered();
      session.run(id);
      await received(id);
      await serve(session);
    }
    expect(sent.map(({ text }) => text)).toEqual(['Answer of r/1.', 'Answer of r/1.']);
    expect(new Set(sent.map(({ key }) => key)).size).toBe(2);
  });
});
