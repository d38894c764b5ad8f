import { describe, expect, it } from 'vitest';
import { textOf } from '../../../src/contracts/message-text.js';
import type { Message } from '../../../src/contracts/schemas/message.js';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import { isPaired } from '../../../src/workflows/policies/transcript/repair-transcript.js';
import { call, say } from '../../support/agent-worker.js';
import { heldTool } from '../../support/tools/sample-tools.js';
import { latch, until, useWorkers } from '../../support/use-workers.js';

describe('the transcript of a run', () => {
  const { worker, start } = useWorkers();

  it('given messages whose calls and results do not pair are repaired before they are sent, and the run says so', async () => {
    const on = await worker({ model: () => say('ok') });
    const messages: Message[] = [
      { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'look twice' }] },
      { id: 'a1', role: 'assistant', parts: [toolCall('c1'), toolCall('c2')] },
      toolResult('c2', 'seen 2'),
      { id: 'u2', role: 'user', parts: [{ type: 'text', text: 'stop' }] },
      toolResult('gone', 'an orphan'),
    ];
    const run = await start(on, { task: 'go on', messages });
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    const sent = on.requests[0]?.messages ?? [];
    expect(isPaired(sent)).toBe(true);
    expect(sent.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'user', 'user']);
    expect(JSON.stringify(sent[2])).toContain('[outcome unknown]');
    expect(await run.events()).toContainEqual(
      expect.objectContaining({ type: 'recovered', what: 'pairing of calls and results', count: 2 }),
    );
  });

  it('D-13: empty turns, repeated neighbours and unanswered calls of a recovered transcript are put right before they are sent', async () => {
    const on = await worker({ model: () => say('ok') });
    const messages: Message[] = [
      said('u1', 'user', 'look'),
      said('u2', 'user', 'look'),
      { id: 'a0', role: 'assistant', parts: [] },
      { id: 'a1', role: 'assistant', parts: [toolCall('c1'), toolCall('c2')] },
      toolResult('c1', 'the same'),
      toolResult('c2', 'the same'),
      said('a2', 'assistant', 'both are the same'),
    ];
    await (await start(on, { task: 'go on', messages })).result();
    const sent = on.requests[0]?.messages ?? [];
    expect(sent.map(({ id }) => id).slice(0, -1)).toEqual(['u2', 'a1', 'c1', 'c2', 'a2']);
    expect(textOf(sent.at(-1) ?? said('', 'user', ''))).toBe('go on');
    expect(isPaired(sent)).toBe(true);
  });

  it('D-13: a task that the transcript ends with is not there twice; the same words further up do not swallow it', async () => {
    const on = await worker({ model: () => say('ok') });
    const asked = said('u1', 'user', 'go on');
    const texts = async (messages: Message[]) => {
      await (await start(on, { task: 'go on', messages })).result();
      return on.requests.at(-1)?.messages.map(textOf);
    };
    expect(await texts([said('a0', 'assistant', 'ready'), asked])).toEqual(['ready', 'go on']);
    expect(await texts([asked, said('a1', 'assistant', 'done')])).toEqual(['go on', 'done', 'go on']);
  });

  it('C-28: names of tools are trimmed; calls whose name no tool can have are dropped with their results', async () => {
    const on = await worker({ model: () => say('ok') });
    const messages: Message[] = [
      said('u1', 'user', 'look'),
      { id: 'a1', role: 'assistant', parts: [toolCall('c1', ' look '), toolCall('c2', ' '), toolCall('c3', 'x'.repeat(65))] },
      ...['c1', 'c2', 'c3'].map((callId) => toolResult(callId, `result of ${callId}`)),
      said('a2', 'assistant', 'I looked.'),
    ];
    await (await start(on, { task: 'go on', messages })).result();
    const parts = (on.requests[0]?.messages ?? []).flatMap((message) => message.parts);
    expect(parts.filter(({ type }) => type === 'tool_call')).toEqual([toolCall('c1')]);
    expect(parts.filter(({ type }) => type === 'tool_result')).toMatchObject([{ callId: 'c1' }]);
  });

  it('the answer of a run is its own: what an older run said is not its output', async () => {
    const on = await worker({
      model: () => {
        throw new ModelError('Model.Auth', 'the key was refused');
      },
    });
    const messages: Message[] = [{ id: 'a1', role: 'assistant', parts: [{ type: 'text', text: 'all done long ago' }] }];
    const run = await start(on, { messages });
    await expect(run.result()).rejects.toMatchObject({ cause: { type: 'Model.Auth' } });
    expect(await run.handle.query('result')).toMatchObject({ reason: 'error', output: '' });
  });

  it('a call that was cut once too often has its result too: the transcript can be gone on with', async () => {
    const on = await worker({ model: () => ({ ...call(['nothing', {}]), stop: 'length' }) });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'max_tokens', turns: 3 });
    expect(isPaired(await run.messages())).toBe(true);
  });

  it('messages that are large together are read by the query, not carried in the input of the model call', async () => {
    const gate = latch();
    const held = heldTool(gate.opened);
    const on = await worker({ model: (_, n) => (n === 1 ? call(['held', {}]) : say('ok')), tools: [held] });
    const run = await start(on);
    await until(async () => (await run.progress()).phase === 'tools', 'the tool');
    const texts = Array.from({ length: 20 }, (_, n) => `${n} ${'x'.repeat(30_000)}`);
    for (const text of texts) await run.handle.signal('steer', { text });
    gate.open();
    await run.result();
    const sent = on.requests[1]?.messages.filter((message) => message.origin === 'steer').map(textOf);
    expect(sent).toEqual(texts);
    const { events } = await run.handle.fetchHistory();
    const inputs = (events ?? []).flatMap((event) => event.activityTaskScheduledEventAttributes?.input?.payloads ?? []);
    expect(Math.max(...inputs.map((payload) => payload.data?.length ?? 0))).toBeLessThan(100_000);
  });
});

function said(id: string, role: Message['role'], text: string): Message {
  return { id, role, parts: [{ type: 'text', text }] };
}

function toolCall(callId: string, name = 'look'): Message['parts'][number] {
  return { type: 'tool_call', callId, name, args: {} };
}

function toolResult(callId: string, text: string): Message {
  return { id: callId, role: 'tool', parts: [{ type: 'tool_result', callId, isError: false, parts: [{ type: 'text', text }] }] };
}
