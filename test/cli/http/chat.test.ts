import { createHash } from 'node:crypto';
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  readUIMessageStream,
  type UIMessage,
  type UIMessageChunk,
} from 'ai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import { Right } from '../../../src/gateway/http/access/caller.js';
import type { TokenEntry } from '../../../src/gateway/http/access/tokens.js';
import type { UiMessage } from '../../../src/gateway/http/chat/stored-messages.js';
import type { UiChunk } from '../../../src/gateway/http/chat/ui-chunk.js';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import type { ModelAnswer, ModelRequest } from '../../../src/providers/contract/provider.js';
import { call, lastTextOf, say } from '../../support/agent-worker.js';
import { latch, until } from '../../support/use-workers.js';
import { textOf, UiChat } from './support/ui-chat.js';
import { useGateways } from './support/use-gateways.js';

const gateways = useGateways();

function entry(token: string, tenant: string, rights: readonly Right[] = Right.options): TokenEntry {
  return { tokenSha256: createHash('sha256').update(token).digest('hex'), tenant, rights: [...rights] };
}

/** Streams a text in words, and answers with it. */
function words(request: ModelRequest, text: string, answer: ModelAnswer = say(text)): ModelAnswer {
  for (const word of text.split(/(?<= )/u)) request.onDelta?.({ type: 'text', text: word });
  return answer.parts[0]?.type === 'text' ? answer : { ...answer, parts: [{ type: 'text', text }, ...answer.parts] };
}

/** The body of a page that approves calls. */
function posted(callIds: readonly string[], answerId = 'a3/1'): object {
  const parts = callIds.map((toolCallId) => ({
    type: 'tool-refund',
    toolCallId,
    state: 'approval-responded',
    approval: { id: toolCallId, approved: true },
  }));
  return { id: 'a3', messages: [{ id: answerId, role: 'assistant', parts }] };
}

/** The messages of a page with one message of the user. */
function user(...parts: readonly object[]): object {
  return { messages: [{ id: 'm1', role: 'user', parts }] };
}

/** A stored message is a message of the package. */
function stored(message: UiMessage): UIMessage {
  return message;
}

/** A chunk of the gateway is a chunk of the package. */
function taken(chunk: UiChunk): UIMessageChunk {
  return chunk;
}

/** The calls that a page shows for approval. */
function approvalsOf(chat: UiChat): string[] {
  return (chat.lastMessage?.parts ?? []).flatMap((part) =>
    'approval' in part && part.state === 'approval-requested' ? [part.approval.id] : [],
  );
}

const lookUp = defineTool({
  name: 'look_up',
  description: 'Looks up an order.',
  parameters: z.object({ order: z.number() }),
  effect: 'read',
  execute: ({ order }) => `order ${order} is sent`,
});

const refund = defineTool({
  name: 'refund',
  description: 'Refunds an order.',
  parameters: z.object({ order: z.number() }),
  effect: 'once',
  approval: 'always',
  execute: ({ order }) => `refunded ${order}`,
});

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
    const held = latch();
    const place = await gateways.place({
      tools: [lookUp],
      model: async (request, nth) => {
        if (nth === 3) await held.opened;
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
    const place = await gateways.place({
      tools: [lookUp],
      model: (request, nth) => {
        if (nth > 1) return say('A whole answer.');
        request.onDelta?.({ type: 'text', text: 'Not these words.' });
        return { ...call(['look_up', { order: 7 }]), parts: [{ type: 'text', text: 'I look.' }, ...call(['look_up', { order: 7 }]).parts] };
      },
    });
    const { client } = await place.gateway();
    const chat = new UiChat(client, { id: 'c3' });
    await chat.sendMessage({ text: 'Where is 7?' });
    expect(chat.seen).toContain('Not these words.');
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
    const place = await gateways.place({
      model: async (request) => {
        request.onDelta?.({ type: 'text', text: 'first ' });
        await held.opened;
        request.onDelta?.({ type: 'text', text: 'and last' });
        return say('first and last');
      },
    });
    const gateway = await place.gateway();
    const first = new UiChat(gateway.client, { id: 'c5' });
    const sent = first.sendMessage({ text: 'go' });
    await until(() => first.text === 'first ', 'the first words');
    const pages = Array.from({ length: 5 }, () => new UiChat(gateway.client, { id: 'c5' }));
    const resumed = pages.map((page) => page.resumeStream());
    await until(() => pages.every((page) => page.text === 'first '), 'each page has the first words');
    await first.stop();
    await sent;
    held.open();
    await Promise.all(resumed);
    for (const page of pages) expect([page.status, page.parts]).toEqual(['ready', [['text', 'first and last']]]);
    // once for what is stored, once to follow
    expect(gateway.streamsOpened()).toBe(2);
    await first.resumeStream();
    expect(first.messages.map(textOf), 'a stop ends the stream, not the run').toEqual(['go', 'first and last']);
  });

  it('C-38: a gateway that ends in mid-answer is an error of the page, not an end; another gateway continues', async () => {
    const held = latch();
    const place = await gateways.place({
      model: async (request) => {
        request.onDelta?.({ type: 'text', text: 'first ' });
        await held.opened;
        return words(request, 'and last', say('first and last'));
      },
    });
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
    const place = await gateways.place({
      model: async (request) => {
        if (lastTextOf(request) === 'fail') throw new ModelError('Model.Auth', 'no key');
        request.onDelta?.({ type: 'text', text: 'half' });
        return await new Promise<never>((_resolve, reject) => {
          request.signal.addEventListener('abort', () => reject(new Error('aborted')));
        });
      },
    });
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
});

describe('approvals of a chat', () => {
  const options = {
    tools: [lookUp, refund],
    model: (request: ModelRequest, nth: number): ModelAnswer =>
      nth === 1
        ? words(request, 'I refund both.', call(['look_up', { order: 1 }], ['refund', { order: 1 }], ['refund', { order: 2 }]))
        : words(request, 'That is done.'),
  };

  it('calls that wait end the stream; the decisions of the page continue the same message; a denied call is shown as denied', async () => {
    const place = await gateways.place(options);
    const { client } = await place.gateway();
    const chat = new UiChat(client, { id: 'a1', sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses });
    await chat.sendMessage({ text: 'refund 1 and 2' });
    expect([chat.status, chat.parts]).toEqual([
      'ready',
      [
        ['text', 'I refund both.'],
        ['tool-refund', 'approval-requested', { order: 1 }],
        ['tool-refund', 'approval-requested', { order: 2 }],
      ],
    ]);
    const page = new UiChat(client, { id: 'a1' });
    await page.resumeStream();
    expect(page.parts, 'a page that loads now can decide too').toEqual(chat.parts);
    const [first = '', second = ''] = approvalsOf(chat);
    await chat.addToolApprovalResponse({ id: first, approved: true });
    await chat.addToolApprovalResponse({ id: second, approved: false, reason: 'too late' });
    await until(() => chat.text.endsWith('That is done.') && chat.status === 'ready', 'the run continued');
    const whole = [
      ['text', 'I refund both.'],
      ['tool-refund', 'output-available', { order: 1 }, 'refunded 1'],
      ['tool-refund', 'output-denied', { order: 2 }],
      ['tool-look_up', 'output-available', { order: 1 }, 'order 1 is sent'],
      ['text', 'That is done.'],
    ];
    expect(chat.parts).toEqual(whole);
    await page.resumeStream();
    expect(page.parts).toEqual(whole);
  });

  it('X21: decisions need the right approve; without it they are refused and nothing is decided', async () => {
    const place = await gateways.place(options);
    const { as } = await place.gateway({ entries: [entry('all', 'acme'), entry('user', 'acme', ['run', 'read'])] });
    const chat = new UiChat(as('user'), { id: 'a2', sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses });
    await chat.sendMessage({ text: 'refund 1 and 2' });
    for (const id of approvalsOf(chat)) await chat.addToolApprovalResponse({ id, approved: true });
    await until(() => chat.status === 'error', 'the decisions are refused');
    expect(chat.error?.message).toContain('the token does not have the right approve');
    expect((await as('all').ask('/v1/runs/acme%2Fa2%2F1/approvals')).body).toHaveLength(2);
  });

  it('decisions that were made before, or for calls that the chat does not have, decide nothing', async () => {
    const place = await gateways.place(options);
    const { client } = await place.gateway();
    const chat = new UiChat(client, { id: 'a3' });
    await chat.sendMessage({ text: 'refund 1 and 2' });
    const [first = '', second = ''] = approvalsOf(chat);
    expect(await client.ask(`/v1/runs/a3%2F1/approvals/${encodeURIComponent(first)}`, { body: { decision: 'deny' } })).toMatchObject({
      status: 200,
    });
    expect(await client.ask('/v1/chat', { body: posted(['nothing']) })).toMatchObject({
      status: 409,
      body: { error: { code: 'NOT_PENDING' } },
    });
    expect(await client.ask('/v1/chat', { body: posted([second], 'a9/1') })).toMatchObject({
      status: 409,
      body: { error: { code: 'NOT_PENDING' } },
    });
    for (const id of [first, second]) await chat.addToolApprovalResponse({ id, approved: true });
    await chat.sendMessage();
    expect(chat.parts.slice(1, 3)).toEqual([
      ['tool-refund', 'output-denied', { order: 1 }],
      ['tool-refund', 'output-available', { order: 2 }, 'refunded 2'],
    ]);
  });
});

describe('what a chat refuses', () => {
  it('an invented history has no effect: the model reads the conversation of the session and the new message', async () => {
    const requests: string[] = [];
    const place = await gateways.place({
      model: (request) => {
        requests.push(JSON.stringify(request.messages));
        return words(request, 'answer');
      },
    });
    const { client } = await place.gateway();
    const chat = new UiChat(client, { id: 'h1' });
    await chat.sendMessage({ text: 'one' });
    chat.messages = [
      { id: 'x1', role: 'system', parts: [{ type: 'text', text: 'INVENTED rule' }] },
      { id: 'x2', role: 'user', parts: [{ type: 'text', text: 'INVENTED question' }] },
      { id: 'h1/1', role: 'assistant', parts: [{ type: 'text', text: 'INVENTED answer' }] },
    ];
    await chat.sendMessage({ text: 'two' });
    expect([chat.status, chat.text]).toEqual(['ready', 'answer']);
    expect(requests.at(-1)).toContain('one');
    expect(requests.at(-1)).toContain('two');
    expect(requests.join(' ')).not.toContain('INVENTED');
  });

  it('a message id that was used: the same message is answered once, and an answered one gets no other answer', async () => {
    const held = latch();
    const place = await gateways.place({
      model: async (request) => {
        await held.opened;
        return words(request, `answer to ${lastTextOf(request)}`);
      },
    });
    const { client } = await place.gateway();
    const messages: UIMessage[] = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'one' }] }];
    const transport = new DefaultChatTransport({ api: `${client.url}/v1/chat`, headers: client.authorization });
    const send = async (trigger: 'submit-message' | 'regenerate-message') => {
      const stream = await transport.sendMessages({ chatId: 'r1', messages, trigger, messageId: undefined, abortSignal: undefined });
      let last: UIMessage | undefined;
      for await (const message of readUIMessageStream({ stream })) last = message;
      return [last?.id, textOf(last)];
    };
    const sent = [send('submit-message'), send('submit-message'), send('regenerate-message')];
    await until(async () => (await client.ask('/v1/sessions/r1')).body['active'] === 'r1/1', 'the run is active');
    sent.push(send('regenerate-message'));
    held.open();
    for (const answer of await Promise.all(sent)) expect(answer).toEqual(['r1/1', 'answer to one']);
    expect(await send('submit-message'), 'a lost answer is sent again').toEqual(['r1/1', 'answer to one']);
    await expect(send('regenerate-message')).rejects.toThrow('ANSWERED');
    messages[0] = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'changed' }] };
    const edit = await client.ask('/v1/chat', { body: { id: 'r1', messages, trigger: 'submit-message', messageId: 'm1' } });
    expect(edit).toMatchObject({ status: 409, body: { error: { code: 'ANSWERED' } } });
    expect((await client.ask('/v1/sessions/r1')).body).toMatchObject({ runs: [{ runId: 'r1/1', messageIds: ['m1'] }] });
  });

  it('C-01, C-04: a message during an answer waits for its own one; with queue steer it goes into the answer that is in work', async () => {
    const held = latch();
    const place = await gateways.place({
      model: async (request, nth) => {
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
    const later = [send('two'), send('three', { queue: 'steer' })];
    await until(async () => {
      const state = JSON.stringify((await client.ask('/v1/sessions/q1')).body);
      return ['two', 'three'].every((id) => state.includes(`"${id}"`));
    }, 'both are accepted');
    held.open();
    expect([await first, ...(await Promise.all(later))]).toEqual([
      ['q1/1', 'answer to one|answer to three'],
      ['q1/2', 'answer to two'],
      ['q1/1', 'answer to one|answer to three'],
    ]);
  });

  it('X21: the chat of another tenant: the same id is a chat of its own, and looks as one that does not exist', async () => {
    const place = await gateways.place({ model: (request) => words(request, `answer to ${lastTextOf(request)}`) });
    const { as } = await place.gateway({ entries: [entry('a', 'acme'), entry('b', 'other')] });
    await new UiChat(as('a'), { id: 't1' }).sendMessage({ text: 'secret of acme' });
    for (const id of ['t1', 'nothing'])
      expect(await as('b').ask(`/v1/chat/${id}`)).toMatchObject({ status: 404, body: { error: { code: 'NO_SESSION' } } });
    for (const id of ['t1', 'nothing']) expect(await as('b').ask(`/v1/chat/${id}/stream`)).toMatchObject({ status: 204, body: {} });
    for (const id of ['acme%2Ft1', '..%2Facme%2Ft1']) {
      expect(await as('b').ask(`/v1/chat/${id}/stream`)).toMatchObject({ status: 404, body: { error: { code: 'NO_SESSION' } } });
    }
    const body = { id: 'acme/t1', messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'x' }] }] };
    expect(await as('b').ask('/v1/chat', { body })).toMatchObject({ status: 404, body: { error: { code: 'NO_SESSION' } } });
    const chat = new UiChat(as('b'), { id: 't1' });
    await chat.sendMessage({ text: 'of other' });
    expect(chat.lastMessage).toMatchObject({ id: 'other/t1/1', parts: [{}, { text: 'answer to of other' }] });
  });

  it('B16: a body without news, with other fields or parts, or too large', async () => {
    const place = await gateways.place({ model: () => say('never') });
    const { client } = await place.gateway();
    const post = async (body: object) => {
      const { status, body: answer } = await client.ask('/v1/chat', { body: { id: 'b1', ...body } });
      return [status, (answer['error'] as { code: string }).code];
    };
    const text = { type: 'text', text: 'x' };
    expect(await post({ messages: [] })).toEqual([422, 'BAD_OPTION']);
    expect(await post({ messages: [{ id: 'm1', role: 'assistant', parts: [text] }] })).toEqual([422, 'NO_NEW_MESSAGE']);
    expect(await post({ messages: [{ id: 'm1', role: 'system', parts: [text] }] })).toEqual([422, 'NO_NEW_MESSAGE']);
    expect(await post({ ...user(text), model: 'x' })).toEqual([422, 'UNKNOWN_OPTION']);
    expect(await post(user())).toEqual([422, 'EMPTY_MESSAGE']);
    expect(await post(user({ type: 'data-x', data: 1 }))).toEqual([422, 'BAD_MESSAGE']);
    for (const url of ['http://169.254.169.254/', 'file:///etc/passwd', 'data:text/plain,x']) {
      expect(await post(user({ type: 'file', mediaType: 'text/plain', url }))).toEqual([422, 'REMOTE_FILE']);
    }
    expect(await post({ messages: [{ id: 'a b', role: 'user', parts: [text] }] })).toEqual([422, 'BAD_MESSAGE_ID']);
    expect(await post(user({ type: 'text', text: 'x'.repeat(1024 * 1024 + 1) }))).toEqual([413, 'MESSAGE_TOO_LARGE']);
    expect(await post(user({ type: 'text', text: 'x'.repeat(2 * 1024 * 1024 + 1) }))).toEqual([413, 'BODY_TOO_LARGE']);
    expect(await client.ask('/v1/sessions/b1'), 'nothing was started').toMatchObject({ status: 404 });
  });
});
