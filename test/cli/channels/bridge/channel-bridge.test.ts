import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { AgentClient } from '../../../../src/client/agent-client.js';
import type { SessionHandle } from '../../../../src/client/session-handle.js';
import { PerdureError } from '../../../../src/contracts/perdure-error.js';
import { ModelError } from '../../../../src/providers/contract/model-error.js';
import { call, lastTextOf, say } from '../../../support/agent-worker.js';
import { latch, until } from '../../../support/use-workers.js';
import { lookUp, refund, words } from '../../http/support/chat-agent.js';
import { untilTexts } from '../support/slack-server.js';
import { useBridges } from '../support/use-bridges.js';

const bridges = useBridges({ tools: [lookUp, refund] });

/** A conversation of its own for each test: sessions are shared by the tests of a run. */
function conversation(): string {
  return `D${randomUUID().replaceAll('-', '').toUpperCase()}`;
}

/** A session that gets each message, and whose receipt is lost. */
function losingReceipts(session: SessionHandle): SessionHandle {
  return new Proxy(session, {
    get(target, name: keyof SessionHandle) {
      if (name !== 'message') return typeof target[name] === 'function' ? target[name].bind(target) : target[name];
      return async (...args: Parameters<SessionHandle['message']>) => {
        await target.message(...args);
        throw new PerdureError('TEMPORAL_UNREACHABLE', 'no answer', 5);
      };
    },
  });
}

describe('ChannelBridge', () => {
  it('C-35: a message is answered in its conversation, each answer of its run in order, and the output is not sent again', async () => {
    const server = await bridges.slack();
    bridges.answers((request, nth) =>
      nth % 2 === 1 ? words(request, 'I look.', call(['look_up', { order: 7 }])) : words(request, 'It is sent.'),
    );
    const bridge = await bridges.bridge(server, { path: await bridges.journal() });
    const dm = conversation();
    await bridge.receive({ conversation: dm, id: `${dm}:1.1`, text: 'Where is 7?' });
    await untilTexts(server, dm, ['I look.', 'It is sent.']);
    await until(() => bridge.openConversations === 0, 'the conversation is served');
    expect(server.texts(dm)).toEqual(['I look.', 'It is sent.']);
  });

  it('C-38: the same message twice is one message, also for a bridge that starts after it was answered', async () => {
    const server = await bridges.slack();
    let asked = 0;
    bridges.answers((request) => {
      asked += 1;
      return words(request, `You said: ${lastTextOf(request)}`);
    });
    const path = await bridges.journal();
    const dm = conversation();
    const message = { conversation: dm, id: `${dm}:1.1`, text: 'hello' };
    const first = await bridges.bridge(server, { path });
    await Promise.all([first.receive(message), first.receive(message)]);
    await until(() => server.messages.length > 0 && first.openConversations === 0, 'the message is answered');
    await first.close();
    const second = await bridges.bridge(server, { path });
    await second.receive(message);
    await second.receive({ conversation: dm, id: `${dm}:1.2`, text: 'again' });
    await until(() => server.messages.length > 1 && second.openConversations === 0, 'the second message is answered');
    expect(server.texts(dm)).toEqual(['You said: hello', 'You said: again']);
    expect(asked).toBe(2);
  });

  it('C-38: a message whose signal may have arrived is answered, although its sender got an error and never repeats it', async () => {
    const server = await bridges.slack();
    bridges.answers((request) => words(request, `You said: ${lastTextOf(request)}`));
    const client = await bridges.client();
    const lossy = {
      get: client.get.bind(client),
      session: (...args: Parameters<AgentClient['session']>) => losingReceipts(client.session(...args)),
    };
    const bridge = await bridges.bridge(server, { path: await bridges.journal(), client: lossy });
    const dm = conversation();
    const message = { conversation: dm, id: `${dm}:1.1`, text: 'hello' };
    await expect(bridge.receive(message)).rejects.toMatchObject({ code: 'TEMPORAL_UNREACHABLE' });
    await untilTexts(server, dm, ['You said: hello']);
    await until(() => bridge.openConversations === 0, 'the message is settled');
    await bridge.receive(message);
    expect(server.texts(dm)).toEqual(['You said: hello']);
  });

  it('the same id in two conversations is two messages', async () => {
    const server = await bridges.slack();
    bridges.answers((request) => words(request, `You said: ${lastTextOf(request)}`));
    const bridge = await bridges.bridge(server, { path: await bridges.journal() });
    const [one, other, later] = [conversation(), conversation(), conversation()];
    await Promise.all([one, other].map((dm) => bridge.receive({ conversation: dm, id: '1', text: 'hello' })));
    await until(() => server.messages.length === 2 && bridge.openConversations === 0, 'both are answered');
    await bridge.receive({ conversation: later, id: '1', text: 'hello' });
    await until(() => server.messages.length === 3, 'the third is answered');
    expect([one, other, later].map((dm) => server.texts(dm))).toEqual(Array.from({ length: 3 }, () => ['You said: hello']));
  });

  it('C-35: blocks are sent while the model writes, and the rest when it is complete', async () => {
    const server = await bridges.slack();
    const held = latch();
    const paragraphs = ['One.', 'Two.', 'Three.'].map((word) => `${word} ${'x'.repeat(60)}`);
    bridges.answers(async (request) => {
      request.onDelta?.({ type: 'text', text: `${paragraphs[0]}\n\n${paragraphs[1]}\n\nTh` });
      await held.opened;
      const text = paragraphs.join('\n\n');
      request.onDelta?.({ type: 'text', text: text.slice(text.indexOf('Th') + 2) });
      return say(text);
    });
    const bridge = await bridges.bridge(server, { path: await bridges.journal(), blocks: { charsMin: 50, charsMax: 100, idleMs: 0 } });
    const dm = conversation();
    await bridge.receive({ conversation: dm, id: `${dm}:1.1`, text: 'count' });
    await untilTexts(server, dm, paragraphs.slice(0, 2));
    held.open();
    await untilTexts(server, dm, paragraphs);
    expect(server.messages.map(({ edits }) => edits)).toEqual([0, 0, 0]);
  });

  it('an answer whose first attempt was superseded is edited, not sent twice', async () => {
    const server = await bridges.slack();
    const held = latch();
    const old = 'Old text of the first attempt. '.repeat(2).trim();
    const rest = 'r'.repeat(60);
    bridges.answers(async (request) => {
      request.onDelta?.({ type: 'text', text: `${old}\n\n${rest}\n\nmore` });
      await held.opened;
      // the transcript has another text than the tokens: what it says counts
      return say(`New text of the answer, which is what counts.\n\n${rest}`);
    });
    const bridge = await bridges.bridge(server, { path: await bridges.journal(), blocks: { charsMin: 40, charsMax: 100, idleMs: 0 } });
    const dm = conversation();
    await bridge.receive({ conversation: dm, id: `${dm}:1.1`, text: 'go' });
    await untilTexts(server, dm, [old, rest]);
    held.open();
    await untilTexts(server, dm, ['New text of the answer, which is what counts.', rest]);
    expect(server.messages.map(({ edits }) => edits)).toEqual([1, 0]);
  });

  it('C-36: the silent token is not sent, and the message is settled', async () => {
    const server = await bridges.slack();
    bridges.answers((request) => words(request, 'NO_REPLY'));
    const bridge = await bridges.bridge(server, { path: await bridges.journal() });
    const dm = conversation();
    await bridge.receive({ conversation: dm, id: `${dm}:1.1`, text: 'thanks' });
    await until(() => bridge.openConversations === 0, 'the message is settled');
    expect(server.messages).toEqual([]);
  });

  it('C-38: a bridge continues the answer that another one began, without a gap or a double', async () => {
    const server = await bridges.slack();
    const held = latch();
    const paragraphs = Array.from({ length: 6 }, (_, index) => `Paragraph ${index}. ${'y'.repeat(60)}`);
    bridges.answers(async (request) => {
      const begun = paragraphs.slice(0, 4).join('\n\n');
      request.onDelta?.({ type: 'text', text: begun });
      await held.opened;
      const text = paragraphs.join('\n\n');
      request.onDelta?.({ type: 'text', text: text.slice(begun.length) });
      return say(text);
    });
    const path = await bridges.journal();
    const blocks = { charsMin: 50, charsMax: 100, idleMs: 0 };
    const first = await bridges.bridge(server, { path, blocks });
    const dm = conversation();
    await first.receive({ conversation: dm, id: `${dm}:1.1`, text: 'tell' });
    await untilTexts(server, dm, paragraphs.slice(0, 3));
    await first.close();
    held.open();
    await bridges.bridge(server, { path, blocks });
    await untilTexts(server, dm, paragraphs);
    expect(await readFile(path, 'utf8'), 'a journal has no text of a message').not.toContain('Paragraph');
  });

  it('C-35: an answer that stops arriving is sent up to its last sentence, and another bridge continues behind it', async () => {
    const server = await bridges.slack();
    const held = latch();
    bridges.answers(async (request) => {
      request.onDelta?.({ type: 'text', text: 'One sentence. Two is not' });
      await held.opened;
      request.onDelta?.({ type: 'text', text: ' finished before.' });
      return say('One sentence. Two is not finished before.');
    });
    const path = await bridges.journal();
    const first = await bridges.bridge(server, { path, blocks: { idleMs: 50 } });
    const dm = conversation();
    await first.receive({ conversation: dm, id: `${dm}:1.1`, text: 'tell' });
    await untilTexts(server, dm, ['One sentence.']);
    await first.close();
    held.open();
    const second = await bridges.bridge(server, { path, blocks: { idleMs: 0 } });
    await until(() => second.openConversations === 0, 'the message is settled');
    expect(server.texts(dm)).toEqual(['One sentence.', 'Two is not finished before.']);
    expect(server.messages.map(({ edits }) => edits)).toEqual([0, 0]);
  });

  it('a message whose answer was lost is found by its key, and not sent again', async () => {
    const server = await bridges.slack();
    bridges.answers((request) => words(request, 'Once.'));
    server.failNext('chat.postMessage', { kind: 'lost' });
    const reports: string[] = [];
    const bridge = await bridges.bridge(server, { path: await bridges.journal(), report: (line) => reports.push(line) });
    const dm = conversation();
    await bridge.receive({ conversation: dm, id: `${dm}:1.1`, text: 'go' });
    await until(() => bridge.openConversations === 0, 'the message is settled');
    expect(server.texts(dm)).toEqual(['Once.']);
    expect(server.calls.filter((method) => method === 'chat.postMessage')).toHaveLength(1);
    expect(reports).toEqual([expect.stringMatching(/^CHANNEL_RETRY: channel team: chat\.postMessage: /u)]);
  });

  it('C-02: a run that fails is reported in the conversation, without its cause', async () => {
    const server = await bridges.slack();
    bridges.answers(() => {
      throw new ModelError('Model.Auth', 'secret cause');
    });
    const bridge = await bridges.bridge(server, { path: await bridges.journal() });
    const dm = conversation();
    await bridge.receive({ conversation: dm, id: `${dm}:1.1`, text: 'go' });
    await until(() => server.messages.length > 0 && bridge.openConversations === 0, 'the failure is reported');
    expect(server.texts(dm)).toEqual(['This failed. An operator can see the cause.']);
  });

  it('a rate limit and an error of the platform are waited for, and the blocks stay in order', async () => {
    const server = await bridges.slack();
    const paragraphs = ['One.', 'Two.', 'Three.'].map((word) => `${word} ${'z'.repeat(60)}`);
    bridges.answers((request) => words(request, paragraphs.join('\n\n')));
    server.failNext('chat.postMessage', { kind: 'status', status: 429, headers: { 'retry-after': '1' } }, { kind: 'status', status: 503 });
    const options = { blocks: { charsMin: 50, charsMax: 100 }, pause: { minMs: 5, maxMs: 20 } };
    const bridge = await bridges.bridge(server, { path: await bridges.journal(), ...options });
    const dm = conversation();
    await bridge.receive({ conversation: dm, id: `${dm}:1.1`, text: 'count' });
    await untilTexts(server, dm, paragraphs);
    await until(() => bridge.openConversations === 0, 'the message is settled');
    expect(server.texts(dm)).toEqual(paragraphs);
  });

  it('C-36: thinking is sent in messages of its own, or in the text, and `final` sends only the output', async () => {
    const server = await bridges.slack();
    bridges.answers((request, nth) => {
      const isFirst = !request.messages.some(({ role }) => role === 'tool');
      const answer = isFirst ? call(['look_up', { order: nth }]) : say('It is sent.');
      return { ...answer, parts: [{ type: 'thinking', text: isFirst ? 'Which one?' : 'That one.' }, ...answer.parts] };
    });
    const shown = {
      separate: ['> Which one?', '> That one.', 'It is sent.'],
      included: ['Which one?', 'That one.\n\nIt is sent.'],
      suppressed: ['It is sent.'],
    } as const;
    for (const thinking of ['separate', 'included', 'suppressed'] as const) {
      const bridge = await bridges.bridge(server, {
        path: await bridges.journal(),
        thinking,
        send: thinking === 'suppressed' ? 'final' : 'live',
      });
      const dm = conversation();
      await bridge.receive({ conversation: dm, id: `${dm}:1.1`, text: 'Where is it?' });
      await until(() => bridge.openConversations === 0, 'the message is settled');
      expect({ [thinking]: server.texts(dm) }).toEqual({ [thinking]: shown[thinking] });
    }
  });

  it('a reply directive puts the answer into the thread of its message, and only of messages of the conversation', async () => {
    const server = await bridges.slack();
    bridges.answers((request) => words(request, `[[reply_to${lastTextOf(request) === 'here' ? '_current' : ':C9:9.9'}]] Done.`));
    const bridge = await bridges.bridge(server, { path: await bridges.journal() });
    const dm = conversation();
    await bridge.receive({ conversation: dm, id: `${dm}:1.1`, text: 'here' });
    await untilTexts(server, dm, ['Done.'], '1.1');
    await bridge.receive({ conversation: dm, id: `${dm}:1.2`, text: 'elsewhere' });
    await untilTexts(server, dm, ['Done.']);
    expect(server.messages).toHaveLength(2);
  });

  it('C-07: a message that no run answers is reported in the conversation, and the next one is answered', async () => {
    const server = await bridges.slack();
    const held = latch();
    bridges.answers(async (request) => {
      if (lastTextOf(request) === 'first') await held.opened;
      return words(request, `Answer to ${lastTextOf(request)}.`);
    });
    const bridge = await bridges.bridge(server, { path: await bridges.journal() });
    const session = (await bridges.client()).session(`team:${conversation()}`);
    const dm = session.key.slice('team:'.length);
    for (const [index, text] of ['first', 'second', 'third'].entries()) {
      await bridge.receive({ conversation: dm, id: `${dm}:1.${index}`, text });
    }
    await until(async () => (await session.query()).queued.length === 2, 'two messages wait');
    await session.unsend(`${dm}:1.1`);
    held.open();
    await until(() => bridge.openConversations === 0, 'all messages are settled');
    expect(server.texts(dm).toSorted()).toEqual(['Answer to first.', 'Answer to third.']);
    expect(server.texts(dm, '1.1')).toEqual(['Your message was not answered: it was withdrawn.']);
  });

  it('shows that a call waits for approval, once, and continues with its decision', async () => {
    const server = await bridges.slack();
    bridges.answers((request) =>
      request.messages.some(({ role }) => role === 'tool') ? words(request, 'It is refunded.') : call(['refund', { order: 7 }]),
    );
    const bridge = await bridges.bridge(server, { path: await bridges.journal() });
    const dm = conversation();
    await bridge.receive({ conversation: dm, id: `${dm}:1.1`, text: 'refund 7' });
    await until(() => server.messages.length === 1, 'the approval is shown');
    expect(server.texts(dm)).toEqual([expect.stringMatching(/^Waiting for approval: /u)]);
    const run = (await bridges.client()).get(`team:${dm}/1`);
    const { pending } = await run.approvals();
    await run.approve(pending[0]?.callId ?? '');
    await until(() => bridge.openConversations === 0, 'the message is settled');
    expect(server.texts(dm).slice(1)).toEqual(['It is refunded.']);
  });
});
