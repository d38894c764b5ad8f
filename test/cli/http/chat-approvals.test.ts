import { lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';
import { describe, expect, it } from 'vitest';
import type { ModelAnswer, ModelRequest } from '../../../src/providers/contract/provider.js';
import { call } from '../../support/agent-worker.js';
import { until } from '../../support/use-workers.js';
import { entry, lookUp, refund, words } from './support/chat-agent.js';
import { UiChat } from './support/ui-chat.js';
import { useGateways } from './support/use-gateways.js';

const gateways = useGateways();

/** The calls that a page shows for approval. */
function approvalsOf(chat: UiChat): string[] {
  return (chat.lastMessage?.parts ?? []).flatMap((part) =>
    'approval' in part && part.state === 'approval-requested' ? [part.approval.id] : [],
  );
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
