import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/contracts/schemas/message.js';
import { overWire, readTool, WIRE_FORMATS } from '../support/over-wire.js';

/** Ids that one provider or another never takes: blanks, signs, too long, and the same one twice. */
const IDS = ['call/1 a', 'x'.repeat(300), 'toolu:é', 'again', 'again'];

describe.each(WIRE_FORMATS)('a recovered transcript that is sent over $format', (wire) => {
  const { over, start } = overWire(wire);

  it('C-28: ids of calls that its server would refuse are rewritten alike in call and result', async () => {
    const { on, server } = await over({ handler: () => ({ text: 'ok' }) }, [readTool([])], { policy: {} });
    const run = await start(on, { task: 'go on', messages: IDS.flatMap(turnWith) });
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'ok' });
    const [request] = server.requests;
    expect(request).toMatchObject({ outcome: 'answered' });
    const { calls, results } = idsIn(JSON.stringify(request?.body));
    expect(calls).toHaveLength(IDS.length);
    expect(results).toEqual(calls);
    expect(new Set(calls).size).toBe(IDS.length);
    for (const id of calls) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/u);
  });

  it('D-13: one that begins in the middle, with a call left open and an empty turn, is one that the server takes', async () => {
    const { on, server } = await over({ handler: () => ({ text: 'ok' }) }, [readTool([])], { policy: {} });
    const [open, closed] = turnWith('c1', 1);
    const [unanswered] = turnWith('c2', 2);
    const messages: Message[] = [
      ...[open, closed, unanswered].filter((message) => message !== undefined),
      { id: 'e', role: 'assistant', parts: [] },
    ];
    const run = await start(on, { task: 'go on', messages });
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'ok' });
    expect(server.requests).toMatchObject([{ outcome: 'answered' }]);
    const { calls, results } = idsIn(JSON.stringify(server.requests[0]?.body));
    expect(results).toEqual(calls);
  });
});

/** An answer with one call under this id, and its result. */
function turnWith(callId: string, index: number): Message[] {
  return [
    { id: `a${index}`, role: 'assistant', parts: [{ type: 'tool_call', callId, name: 'read', args: { path: `${index}` } }] },
    {
      id: `r${index}`,
      role: 'tool',
      parts: [{ type: 'tool_result', callId, isError: false, parts: [{ type: 'text', text: `${index}` }] }],
    },
  ];
}

/** The ids of calls and of results in a request, in its order, whichever format it has. */
function idsIn(body: string): { calls: string[]; results: string[] } {
  const call = /"type":"(?:tool_use","id|function_call","call_id)":"([^"]*)"|"id":"([^"]*)","type":"function"/gu;
  const result = /"(?:tool_use_id|tool_call_id|function_call_output","call_id)":"([^"]*)"/gu;
  const calls = [...body.matchAll(call)].map(([, a, b]) => a ?? b ?? '');
  const results = [...body.matchAll(result)].map(([, id]) => id ?? '');
  return { calls, results };
}
