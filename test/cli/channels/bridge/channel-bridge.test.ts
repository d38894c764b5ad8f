import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { ModelError } from '../../../../src/providers/contract/model-error.js';
import { call, lastTextOf, say } from '../../../support/agent-worker.js';
import { latch, until } from '../../../support/use-workers.js';
import { lookUp, words } from '../../http/support/chat-agent.js';
import { untilTexts } from '../support/slack-server.js';
import { useBridges } from '../support/use-bridges.js';

const bridges = useBridges({ tools: [lookUp] });

/** A conversation of its own for each test: sessions are shared by the tests of a run. */
function conversation(): string {
  return `D${randomUUID().replaceAll('-', '').toUpperCase()}`;
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
});
