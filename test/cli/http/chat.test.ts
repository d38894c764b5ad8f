import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { describe, expect, it } from 'vitest';
import type { Progress } from '../../../src/contracts/schemas/run.js';
import type { UiMessage } from '../../../src/gateway/http/chat/stored-messages.js';
import type { UiChunk } from '../../../src/gateway/http/chat/ui-chunk.js';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import { call, lastTextOf, say } from '../../support/agent-worker.js';
import { latch, until } from '../../support/use-workers.js';
import { failOrHang, inHalves, lookUp, words } from './support/chat-agent.js';
import { textOf, UiChat } from './support/ui-chat.js';
import { useGateways } from './support/use-gateways.js';

const gateways = useGateways();

/** A stored message is a message of the package. */
function stored(message: UiMessage): UIMessage {
  return message;
}

/** A chunk of the gateway is a chunk of the package. */
function taken(chunk: UiChunk): UIMessageChunk {
  return chunk;
}

describe('a chat of the AI SDK', () => {
  it('takes each chunk of the gateway: one that the package does not know would not compile', () => {
    expect(taken({ type: 'start-step' })).toEqual({ type: 'start-step' });
  });

  it('A-29: a message streams its answer in words, and each answer of the chat is a message of its own', async () => {
    const place = await gateways.place({ model: (request) => words(request, `You said: ${lastTextOf(request)} and no more.`) });
    const { client } = await place.gateway();
    const chat = new UiChat(client, { id: 'c1' });
    await chat.sendMessage({ text: 'hello' });
    expect([chat.status, chat.error]).toEqual(['ready', undefined]);
    expect(chat.text).toBe('You said: hello and no more.');
    await chat.sendMessage({ text: 'again' });
    expect(chat.messages.map((message) => [message.role, textOf(message)])).toEqual([
      ['user', 'hello'],
      ['assistant', 'You said: hello and no more.'],
      ['user', 'again'],
      ['assistant', 'You said: again and no more.'],
    ]);
    expect(chat.lastMessage).toMatchObject({ id: 'c1/2', metadata: { runId: 'c1/2', reason: 'completed', turns: 1 } });
  });

  it('thinking, tool calls with arguments and results, and texts of several turns come in their order, once', async () => {
    const place = await gateways.place({
      tools: [lookUp],
      model: (request, nth) => {
        request.onDelta?.({ type: 'thinking', text: 'Which order?' });
        const answer =
          nth === 1
            ? words(request, 'I look.', call(['look_up', { order: 7 }], ['look_up', { order: 8 }]))
            : words(request, 'Both are sent.');
        return { ...answer, parts: [{ type: 'thinking', text: 'Which order?' }, ...answer.parts] };
      },
    });
    const { client } = await place.gateway();
    const chat = new UiChat(client, { id: 'c2' });
    await chat.sendMessage({ text: 'Where are 7 and 8?' });
    expect(chat.parts).toEqual([
      ['reasoning', 'Which order?'],
      ['text', 'I look.'],
      ['tool-look_up', 'output-available', { order: 7 }, 'order 7 is sent'],
      ['tool-look_up', 'output-available', { order: 8 }, 'order 8 is sent'],
      ['reasoning', 'Which order?'],
      ['text', 'Both are sent.'],
    ]);
    const again = new UiChat(client, { id: 'c2' });
    await again.resumeStream();
    expect(again.parts, 'a replay is the same message').toEqual(chat.parts);
    expect(again.lastMessage?.id).toBe(chat.lastMessage?.id);
  });

  it('a page that opens a chat gets its messages: those of the user, and each answer that has ended with its calls', async () => {
    const [asked, held] = [latch(), latch()];
    const place = await gateways.place({
      tools: [lookUp],
      model: async (request, nth) => {
        if (nth === 3) {
          asked.open();
          await held.opened;
        }
        return nth === 1
          ? words(request, 'I look.', call(['look_up', { order: 7 }], ['look_up', { order: 'x' }]))
          : words(request, `Answer ${nth}.`);
      },
    });
    const { client } = await place.gateway();
    const chat = new UiChat(client, { id: 'c8' });
    await chat.sendMessage({ text: 'one' });
    const answer = chat.parts;
    const sent = chat.sendMessage({ text: 'two' });
    await until(async () => (await client.ask('/v1/sessions/c8')).body['active'] === 'c8/2', 'the second run is active');
    // its transcript has the message once its first task is done
    await asked.opened;
    const { body } = await client.ask('/v1/chat/c8');
    const page = new UiChat(client, { id: 'c8', messages: (body['messages'] as UiMessage[]).map(stored) });
    expect(page.messages.map(({ id, role }) => [id, role])).toEqual(chat.messages.slice(0, 3).map(({ id, role }) => [id, role]));
    expect(page.messages.map(textOf)).toEqual(['one', 'I look.|Answer 2.', 'two']);
    expect(new UiChat(client, { messages: page.messages.slice(0, 2) }).parts).toEqual(answer);
    const resumed = page.resumeStream();
    held.open();
    await Promise.all([sent, resumed]);
    expect(page.messages.map(textOf)).toEqual(['one', 'I look.|Answer 2.', 'two', 'Answer 3.']);
    expect((await client.ask('/v1/chat/c8?limit=1')).body['messages']).toHaveLength(2);
    expect(await client.ask('/v1/chat/nothing')).toMatchObject({ status: 404, body: { error: { code: 'NO_SESSION' } } });
  });

  it('an answer that no token announced, and one whose tokens differ from it, are shown as the transcript has them', async () => {
    const held = latch();
    const place = await gateways.place({
      tools: [lookUp],
      model: async (request, nth) => {
        if (nth > 1) return say('A whole answer.');
        request.onDelta?.({ type: 'text', text: 'Not these words.' });
        await held.opened;
        return { ...call(['look_up', { order: 7 }]), parts: [{ type: 'text', text: 'I look.' }, ...call(['look_up', { order: 7 }]).parts] };
      },
    });
    const { client } = await place.gateway();
    const chat = new UiChat(client, { id: 'c3' });
    const sent = chat.sendMessage({ text: 'Where is 7?' });
    await until(() => chat.seen.includes('Not these words.'), 'the words of the tokens');
    held.open();
    await sent;
    expect(chat.parts).toEqual([
      ['text', 'I look.'],
      ['tool-look_up', 'output-available', { order: 7 }, 'order 7 is sent'],
      ['text', 'A whole answer.'],
    ]);
  });

  it('A-34: the text of a superseded attempt is removed from the message, and the answer is whole', async () => {
    const held = latch();
    let failed = false;
    const place = await gateways.place({
      model: async (request) => {
        if (failed) return words(request, 'A whole answer.');
        failed = true;
        request.onDelta?.({ type: 'text', text: 'half an ans' });
        await held.opened;
        throw new ModelError('Model.StreamTruncated', 'cut');
      },
    });
    const { client } = await place.gateway();
    const chat = new UiChat(client, { id: 'c4' });
    const sent = chat.sendMessage({ text: 'go' });
    await until(() => chat.text === 'half an ans', 'the first attempt is shown');
    held.open();
    await sent;
    expect(chat.parts).toEqual([['text', 'A whole answer.']]);
  });

  it('U10: a page that reloads in mid-answer and a second one get the whole text, once, from one subscription of the run', async () => {
    const held = latch();
    const place = await gateways.place({ model: inHalves(held.opened) });
    const gateway = await place.gateway();
    const first = new UiChat(gateway.client, { id: 'c5' });
    const sent = first.sendMessage({ text: 'go' });
    await until(() => first.text === 'first ', 'the first words');
    // the first words may be of what is stored, which is read before the run is followed
    await until(() => gateway.streamsFollowed() === 1, 'the run is followed');
    const opened = gateway.streamsOpened();
    const pages = Array.from({ length: 5 }, () => new UiChat(gateway.client, { id: 'c5' }));
    const resumed = pages.map((page) => page.resumeStream());
    await until(() => pages.every((page) => page.text === 'first '), 'each page has the first words');
    await first.stop();
    await sent;
    held.open();
    await Promise.all(resumed);
    for (const page of pages) expect([page.status, page.parts]).toEqual(['ready', [['text', 'first and last']]]);
    expect(gateway.streamsOpened(), 'no page opened another one').toBe(opened);
    await first.resumeStream();
    expect(first.messages.map(textOf), 'a stop ends the stream, not the run').toEqual(['go', 'first and last']);
  });

  it('C-38: a gateway that ends in mid-answer is an error of the page, not an end; another gateway continues', async () => {
    const held = latch();
    const place = await gateways.place({ model: inHalves(held.opened) });
    const old = await place.gateway();
    const chat = new UiChat(old.client, { id: 'c6' });
    const sent = chat.sendMessage({ text: 'go' });
    await until(() => chat.text === 'first ', 'the first words');
    await old.stop();
    await sent;
    expect(chat.status).toBe('error');
    const next = await place.gateway();
    const page = new UiChat(next.client, { id: 'c6', messages: chat.messages });
    held.open();
    await page.resumeStream();
    expect([page.status, page.messages.map(textOf)]).toEqual(['ready', ['go', 'first and last']]);
  });

  it('a failed run is an error with its type, and a cancelled one ends the message', async () => {
    const place = await gateways.place({ model: failOrHang });
    const { client } = await place.gateway();
    const chat = new UiChat(client, { id: 'c7' });
    await chat.sendMessage({ text: 'fail' });
    expect([chat.status, chat.error?.message]).toEqual(['error', expect.stringContaining('Model.Auth')]);
    const sent = chat.sendMessage({ text: 'wait' });
    await until(() => chat.text === 'half', 'the answer is in work');
    expect(await client.ask('/v1/runs/c7%2F2/cancel', { method: 'POST' })).toMatchObject({ status: 202 });
    await sent;
    expect([chat.status, chat.text, chat.lastMessage?.metadata]).toEqual([
      'ready',
      'half',
      expect.objectContaining({ reason: 'cancelled' }),
    ]);
  });

  it('C-01, C-04: a message during an answer waits for its own one; with queue steer it goes into the answer that is in work', async () => {
    const [asked, held] = [latch(), latch()];
    const place = await gateways.place({
      model: async (request, nth) => {
        asked.open();
        if (nth === 1) await held.opened;
        return words(request, `answer to ${lastTextOf(request)}`);
      },
    });
    const { client } = await place.gateway();
    const send = async (id: string, body: object = {}) => {
      const transport = new DefaultChatTransport({ api: `${client.url}/v1/chat`, headers: client.authorization, body });
      const messages: UIMessage[] = [{ id, role: 'user', parts: [{ type: 'text', text: id }] }];
      const stream = await transport.sendMessages({
        chatId: 'q1',
        messages,
        trigger: 'submit-message',
        messageId: undefined,
        abortSignal: undefined,
      });
      let last: UIMessage | undefined;
      for await (const message of readUIMessageStream({ stream })) last = message;
      return [last?.id, textOf(last)];
    };
    const first = send('one');
    await until(async () => (await client.ask('/v1/sessions/q1')).body['active'] === 'q1/1', 'the run is active');
    // a message that comes before the first call is part of its question
    await asked.opened;
    const later = [send('two'), send('three', { queue: 'steer' })];
    await until(async () => {
      const state = JSON.stringify((await client.ask('/v1/sessions/q1')).body);
      return ['two', 'three'].every((id) => state.includes(`"${id}"`));
    }, 'both are accepted');
    // the session lists a steer before its run has it
    await until(async () => {
      const { body } = await client.ask('/v1/runs/q1%2F1');
      return (body['progress'] as Progress | undefined)?.inbox === 1;
    }, 'the run has the steer');
    held.open();
    expect([await first, ...(await Promise.all(later))]).toEqual([
      ['q1/1', 'answer to one|answer to three'],
      ['q1/2', 'answer to two'],
      ['q1/1', 'answer to one|answer to three'],
    ]);
  });
});
