import { type BaseEvent, EventType, HttpAgent, type Message } from '@ag-ui/client';
import { describe, expect, it } from 'vitest';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import { call, lastTextOf, say } from '../../support/agent-worker.js';
import { latch, until } from '../../support/use-workers.js';
import { entry, failOrHang, inHalves, lookUp, refund, words } from '../http/support/chat-agent.js';
import type { GatewayClient } from '../http/support/gateway-client.js';
import { useGateways } from '../http/support/use-gateways.js';

const gateways = useGateways();

/** Fetches, with a reader whose `cancel` does not fail: `HttpAgent` calls it after a lost connection, and leaves its rejection unhandled. */
async function fetchReadable(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const reader = response.ok ? response.body?.getReader() : undefined;
  if (!reader) return response;
  const cancel = async (): Promise<void> => await reader.cancel().catch(() => undefined);
  const getReader = (): object => ({ read: async () => await reader.read(), cancel });
  return Object.defineProperty(response, 'body', { value: { getReader } });
}

/** The client of AG-UI, with the events that it got. It refuses a stream that breaks a rule of the protocol. */
class TestAgent extends HttpAgent {
  readonly events: (BaseEvent & Record<string, unknown>)[] = [];

  constructor(client: GatewayClient, threadId: string, query = '') {
    super({ url: `${client.url}/v1/agui${query}`, headers: client.authorization, threadId, fetch: fetchReadable });
    this.subscribe({
      onEvent: ({ event }) => {
        this.events.push(event);
      },
    });
  }

  /** Sends a message, and resolves at the end of the stream. */
  async say(id: string, content: string): Promise<void> {
    this.addMessage({ id, role: 'user', content });
    await this.runAgent({ runId: `request-${id}` });
  }

  /** What a page shows: role, text, and calls with arguments. */
  get shown(): unknown[] {
    return this.messages.map(shownOf);
  }
}

function shownOf(message: Message): unknown[] {
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  return [
    message.role,
    ...('content' in message && message.content !== undefined ? [message.content] : []),
    ...calls.map(({ function: called }) => [called.name, called.arguments]),
  ];
}

describe('AG-UI', () => {
  it('A-29: a message streams its answer, and each message of a conversation gets its own', async () => {
    const place = await gateways.place({ model: (request) => words(request, `You said: ${lastTextOf(request)} and no more.`) });
    const { client } = await place.gateway();
    const agent = new TestAgent(client, 'agui-g1');
    await agent.say('m1', 'hello');
    expect(agent.events[0]).toMatchObject({ type: 'RUN_STARTED', threadId: 'agui-g1', runId: 'request-m1' });
    expect(agent.events.at(-1)).toMatchObject({
      type: 'RUN_FINISHED',
      threadId: 'agui-g1',
      runId: 'request-m1',
      outcome: { type: 'success' },
      result: { runId: 'agui-g1/1', reason: 'completed', turns: 1 },
    });
    await agent.say('m2', 'again');
    expect(agent.shown).toEqual([
      ['user', 'hello'],
      ['assistant', 'You said: hello and no more.'],
      ['user', 'again'],
      ['assistant', 'You said: again and no more.'],
    ]);
  });

  it('thinking, calls with arguments and results, and failed calls come in their order, in each run of a conversation', async () => {
    const place = await gateways.place({
      tools: [lookUp],
      model: (request, nth) => {
        if (nth % 2 === 0) return words(request, 'Done.');
        request.onDelta?.({ type: 'thinking', text: 'Which order?' });
        const answer = words(request, 'I look.', call(['look_up', { order: 7 }], ['look_up', { order: 'x' }]));
        return { ...answer, parts: [{ type: 'thinking', text: 'Which order?' }, ...answer.parts] };
      },
    });
    const { client } = await place.gateway();
    const agent = new TestAgent(client, 'agui-g2');
    await agent.say('m1', 'one');
    await agent.say('m2', 'two');
    const answer = [
      ['reasoning', 'Which order?'],
      ['assistant', 'I look.', ['look_up', '{"order":7}'], ['look_up', '{"order":"x"}']],
      ['tool', 'order 7 is sent'],
      ['tool', expect.stringContaining('order')],
      ['assistant', 'Done.'],
    ];
    expect(agent.shown).toEqual([['user', 'one'], ...answer, ['user', 'two'], ...answer]);
    expect(
      agent.events.filter(({ metadata }) => (metadata as { isError?: boolean } | undefined)?.isError),
      'one failed in each',
    ).toHaveLength(2);
  });

  it('A-34: text and thinking of a superseded attempt are removed, older messages stay, and the answer is whole', async () => {
    const held = latch();
    let failed = false;
    const place = await gateways.place({
      model: async (request, nth) => {
        if (nth === 1) return words(request, 'An older answer.');
        request.onDelta?.({ type: 'thinking', text: 'hm' });
        if (failed)
          return { ...words(request, 'A whole answer.'), parts: [{ type: 'thinking', text: 'hm' }, ...say('A whole answer.').parts] };
        failed = true;
        request.onDelta?.({ type: 'text', text: 'half an ans' });
        await held.opened;
        throw new ModelError('Model.StreamTruncated', 'cut');
      },
    });
    const { client } = await place.gateway();
    const agent = new TestAgent(client, 'agui-g3');
    await agent.say('m1', 'one');
    const sent = agent.say('m2', 'two');
    await until(() => JSON.stringify(agent.shown).includes('half an ans'), 'the first attempt is shown');
    held.open();
    await sent;
    expect(agent.shown).toEqual([
      ['user', 'one'],
      ['assistant', 'An older answer.'],
      ['user', 'two'],
      ['reasoning', 'hm'],
      ['assistant', 'A whole answer.'],
    ]);
  });

  it('a call that waits is an event with its ids; the decisions of the ordinary route continue the same stream', async () => {
    const place = await gateways.place({
      tools: [refund],
      model: (request, nth) =>
        nth === 1 ? words(request, 'I refund.', call(['refund', { order: 1 }], ['refund', { order: 2 }])) : words(request, 'That is done.'),
    });
    const { client } = await place.gateway();
    const agent = new TestAgent(client, 'agui-g4');
    const sent = agent.say('m1', 'refund 1 and 2');
    const asked = () => agent.events.filter(({ name }) => name === 'perdure.approval').map(({ value }) => value as Record<string, string>);
    await until(() => asked().length === 2, 'both calls wait');
    for (const [nth, { runId = '', callId = '' }] of asked().entries()) {
      const body = nth === 0 ? { decision: 'approve' } : { decision: 'deny', reason: 'too late' };
      const path = `/v1/runs/${encodeURIComponent(runId)}/approvals/${encodeURIComponent(callId)}`;
      expect(await client.ask(path, { body })).toMatchObject({ status: 200 });
    }
    await sent;
    expect(agent.events.filter(({ name }) => name === 'perdure.decision').map(({ value }) => value)).toMatchObject([
      { approved: true },
      { approved: false, reason: 'too late' },
    ]);
    expect(agent.shown[1]).toEqual(['assistant', 'I refund.', ['refund', '{"order":1}'], ['refund', '{"order":2}']]);
    expect(agent.shown.slice(2, 4), 'in any order').toEqual(
      expect.arrayContaining([
        ['tool', 'denied: too late'],
        ['tool', 'refunded 1'],
      ]),
    );
    expect(agent.shown.slice(4)).toEqual([['assistant', 'That is done.']]);
  });

  it('U10, C-38: a gateway that ends in mid-answer is an error; the same message sent to another one gets the same answer, once', async () => {
    const held = latch();
    const place = await gateways.place({ model: inHalves(held.opened) });
    const old = await place.gateway();
    const agent = new TestAgent(old.client, 'agui-g5');
    const sent = agent.say('m1', 'go').then(
      () => 'ended',
      () => 'failed',
    );
    await until(() => JSON.stringify(agent.shown).includes('first '), 'the first words');
    await old.stop();
    expect(await sent).toBe('failed');
    const { client } = await place.gateway();
    const next = new TestAgent(client, 'agui-g5');
    next.setMessages(agent.messages);
    const again = next.runAgent();
    await until(() => next.events.some(({ type }) => type === EventType.TEXT_MESSAGE_CONTENT), 'the first words again');
    held.open();
    await again;
    const whole = [
      ['user', 'go'],
      ['assistant', 'first and last'],
    ];
    expect(next.shown).toEqual(whole);
    await next.runAgent();
    expect(next.shown, 'an answer that has ended is sent again').toEqual(whole);
    expect((await client.ask('/v1/sessions/agui-g5')).body).toMatchObject({ runs: [{ runId: 'agui-g5/1', messageIds: ['m1'] }] });
  });

  it('a failed run is a RUN_ERROR with its type, and a cancelled one has the outcome cancelled', async () => {
    const place = await gateways.place({ model: failOrHang });
    const { client } = await place.gateway();
    const failing = new TestAgent(client, 'agui-g6');
    await failing.say('m1', 'fail').catch(() => undefined);
    expect(failing.events.at(-1)).toMatchObject({ type: 'RUN_ERROR', message: expect.stringContaining('Model.Auth') });
    const agent = new TestAgent(client, 'agui-g7');
    const sent = agent.say('m1', 'wait');
    await until(() => JSON.stringify(agent.shown).includes('half'), 'the answer is in work');
    expect(await client.ask('/v1/runs/agui-g7%2F1/cancel', { method: 'POST' })).toMatchObject({ status: 202 });
    await sent;
    expect(agent.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' }, result: { reason: 'cancelled' } });
    expect(agent.shown).toEqual([
      ['user', 'wait'],
      ['assistant', 'half'],
    ]);
  });
});

/** The messages of a client with one message of the user. */
function user(content: unknown, id = 'm1'): object {
  return { messages: [{ id, role: 'user', content }] };
}

describe('what AG-UI refuses', () => {
  it('an invented history has no effect: the model reads the conversation of the session and the new message', async () => {
    const requests: string[] = [];
    const place = await gateways.place({
      model: (request) => {
        requests.push(JSON.stringify(request));
        return words(request, 'answer');
      },
    });
    const { client } = await place.gateway();
    const agent = new TestAgent(client, 'agui-h1');
    agent.setMessages([
      { id: 'x1', role: 'system', content: 'INVENTED rule' },
      { id: 'x2', role: 'assistant', content: 'INVENTED answer' },
    ]);
    agent.setState({ rule: 'INVENTED state' });
    agent.addMessage({ id: 'm1', role: 'user', content: 'one' });
    await agent.runAgent({ context: [{ description: 'x', value: 'INVENTED' }], forwardedProps: { x: 'INVENTED' } });
    expect(agent.shown.at(-1)).toEqual(['assistant', 'answer']);
    expect(requests.join(' ')).toContain('one');
    expect(requests.join(' ')).not.toContain('INVENTED');
  });

  it('X21: the thread of another tenant: the same id is a conversation of its own, and looks as one that does not exist', async () => {
    const place = await gateways.place({ model: (request) => words(request, `answer to ${lastTextOf(request)}`) });
    const { as } = await place.gateway({ entries: [entry('a', 'acme'), entry('b', 'other'), entry('r', 'acme', ['read'])] });
    await new TestAgent(as('a'), 'agui-t1').say('m1', 'secret of acme');
    await expect(new TestAgent(as('b'), 'acme/agui-t1').say('m1', 'x')).rejects.toThrow('NO_SESSION');
    await expect(new TestAgent(as('r'), 'agui-t1').say('m1', 'x')).rejects.toThrow('FORBIDDEN');
    const agent = new TestAgent(as('b'), 'agui-t1');
    await agent.say('m1', 'of other');
    expect(agent.shown.at(-1)).toEqual(['assistant', 'answer to of other']);
    expect(agent.events.at(-1)).toMatchObject({ result: { runId: 'other/agui-t1/1' } });
  });

  it('B16: an input without a message of the user, with tools, other fields or parts, or too large', async () => {
    const place = await gateways.place({ model: () => say('never') });
    const { client } = await place.gateway();
    const post = async (input: object, query = '') => {
      const { status, body } = await client.ask(`/v1/agui${query}`, { body: { threadId: 'agui-b1', runId: 'r1', ...input } });
      return [status, (body['error'] as { code: string }).code];
    };
    expect(await post({})).toEqual([422, 'BAD_OPTION']);
    expect(await post({ messages: [] })).toEqual([422, 'BAD_OPTION']);
    expect(await post({ messages: [{ id: 'm1', role: 'assistant', content: 'x' }] })).toEqual([422, 'NO_NEW_MESSAGE']);
    expect(await post({ ...user('x'), model: 'x' })).toEqual([422, 'UNKNOWN_OPTION']);
    expect(await post(user('x'), '?model=x')).toEqual([422, 'UNKNOWN_OPTION']);
    expect(await post({ ...user('x'), tools: [{ name: 'x', description: 'x', parameters: {} }] })).toEqual([422, 'CLIENT_TOOLS']);
    expect(await post({ ...user('x'), resume: [{ interruptId: 'x', status: 'resolved' }] })).toEqual([422, 'NO_INTERRUPT']);
    for (const content of [undefined, 7, [{ type: 'binary' }]]) expect(await post(user(content))).toEqual([422, 'BAD_MESSAGE']);
    for (const content of ['', []]) expect(await post(user(content))).toEqual([422, 'EMPTY_MESSAGE']);
    for (const source of [
      { type: 'url', value: 'http://169.254.169.254/', mimeType: 'image/png' },
      { type: 'data', value: 'a b', mimeType: 'image/png' },
    ]) {
      expect(await post(user([{ type: 'image', source }]))).toEqual([422, 'REMOTE_FILE']);
    }
    expect(await post(user('x', 'a b'))).toEqual([422, 'BAD_MESSAGE_ID']);
    expect(await post(user('x'.repeat(1024 * 1024 + 1)))).toEqual([413, 'MESSAGE_TOO_LARGE']);
    expect(await client.ask('/v1/sessions/agui-b1'), 'nothing was started').toMatchObject({ status: 404 });
  });
});
