import { defaultPayloadConverter } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../../src/contracts/event.js';
import { textOf } from '../../../src/contracts/message-text.js';
import type { Message } from '../../../src/contracts/schemas/message.js';
import type { TestRun } from '../../support/use-workers.js';
import { overWire, readTool, WIRE_FORMATS } from '../support/over-wire.js';
import { resultTexts } from '../support/result-texts.js';

const BAD_JSON = { status: 500, message: 'Failed to parse tool call arguments as JSON: parse error at line 1, column 74' };
const TOO_LONG = { status: 400, code: 'context_length_exceeded' };
const READ = { toolCalls: [{ name: 'read', args: { path: 'a' } }] };

describe.each(WIRE_FORMATS)('recoveries of a run whose model answers over $format', (wire) => {
  const { over, start } = overWire(wire);

  it('B-13: a server that cannot read the JSON of a call is given a correction and asked again, three times in a row', async () => {
    const script = { steps: [READ, { ...READ, fault: { ...BAD_JSON, times: 3 } }, { text: 'ok' }] };
    const { on, server } = await over({ script }, [readTool([])], { policy: {} });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'ok' });
    expect(server.requests.map(({ outcome }) => outcome)).toEqual(['answered', 'faulted', 'faulted', 'faulted', 'answered', 'answered']);
    const corrections = correctionsIn(await run.messages());
    expect(corrections).toHaveLength(3);
    for (const [index, request] of on.requests.slice(2, 5).entries()) {
      expect(request.messages.slice(-1 - index).map(textOf)).toEqual(corrections.slice(0, index + 1).map(textOf));
    }
    expect(corrections.map(textOf).join()).toContain(BAD_JSON.message);
  });

  it('B-13: the fourth refusal in a row ends the run, after four requests', async () => {
    const { on, server } = await over({ script: { steps: [{ text: 'ok', fault: { ...BAD_JSON, times: 9 } }] } }, [], { policy: {} });
    const run = await start(on);
    await expect(run.result()).rejects.toMatchObject({ cause: { type: 'Model.BadJson' } });
    expect(server.requests.map(({ outcome }) => outcome)).toEqual(['faulted', 'faulted', 'faulted', 'faulted']);
    expect(correctionsIn(await run.messages())).toHaveLength(3);
  });

  it.each([
    { status: 503, requests: 3, failure: 'Model.Overloaded' },
    { status: 400, requests: 1, failure: 'Model.BadRequest' },
  ])('B-14: a $status that says nothing of JSON is never answered with a correction', async ({ status, requests, failure }) => {
    const fault = { status, message: 'upstream connect error', times: 9 };
    const { on, server } = await over({ script: { steps: [{ text: 'ok', fault }] } }, [], { policy: {} });
    const run = await start(on);
    await expect(run.result()).rejects.toMatchObject({ cause: { type: failure } });
    expect(server.requests).toHaveLength(requests);
    expect(correctionsIn(await run.messages())).toEqual([]);
  });

  it('B-18: an answer that only thinks is cut at its budget and corrected twice; the third in a row ends the run', async () => {
    const steps = [{ text: 'ok', fault: { thinkTokens: 2_000, times: 9 }, chunkDelayMs: 1 }];
    const { on, server } = await over({ script: { steps } }, [], { policy: { thinkingTokensMax: 100 } });
    const run = await start(on);
    await expect(run.result()).rejects.toMatchObject({ cause: { type: 'Model.ThinkingBudget' } });
    // each time the server was left in the midst of its thoughts
    expect(server.requests.map(({ outcome }) => outcome)).toEqual(['gone', 'gone', 'gone']);
    expect(correctionsIn(await run.messages())).toHaveLength(2);
    expect(await failureDetails(run)).toContainEqual(expect.objectContaining({ usage: expect.objectContaining({ outputTokens: 101 }) }));
  });

  it('B-18: an answer that comes after a correction, or that thinks within its budget, is taken', async () => {
    const fault = { thinkTokens: 2_000, times: 2 };
    const steps = [READ, { ...READ, thinking: 'hmm '.repeat(100), fault, chunkDelayMs: 1 }, { text: 'ok' }];
    const { on } = await over({ script: { steps } }, [readTool([])], { policy: { thinkingTokensMax: 100 } });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'ok', turns: 3 });
    expect(correctionsIn(await run.messages())).toHaveLength(2);
  });

  it('M9: an overflow is answered with one compaction and one more request, whose calls and results still pair', async () => {
    let reads = 0;
    const handler = ({ inputChars }: { inputChars: () => number }) => {
      if (inputChars() > 40_000) return { fault: TOO_LONG };
      reads += 1;
      return reads <= 6 ? { toolCalls: [{ name: 'read', args: { path: `${reads}`.repeat(8_000) } }] } : { text: 'ok' };
    };
    const { on, server } = await over({ handler }, [readTool([])], { policy: {} });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'ok', toolCalls: 6 });
    const outcomes = server.requests.map(({ outcome }) => outcome);
    // a server this strict would have refused calls without results, and results without calls
    expect(new Set(outcomes)).toEqual(new Set(['answered', 'faulted']));
    expect(outcomes.filter((outcome, index) => outcome === 'faulted' && outcomes[index + 1] !== 'answered')).toEqual([]);
    const overflows = outcomes.filter((outcome) => outcome === 'faulted').length;
    expect(overflows).toBeGreaterThan(0);
    expect(eventsOf(await run.events(), 'compacted').map(({ why }) => why)).toEqual(Array(overflows).fill('overflow'));
  });

  it('M9: a second overflow cuts the largest result; when nothing is left to cut, the run ends as Model.ContextOverflow', async () => {
    const steps = [{ toolCalls: [{ name: 'read', args: { path: 'x'.repeat(20_000) } }] }, { fault: { ...TOO_LONG, times: 9 } }];
    const { on, server } = await over({ script: { steps } }, [readTool([])], { policy: {} });
    const run = await start(on);
    await expect(run.result()).rejects.toMatchObject({ cause: { type: 'Model.ContextOverflow' } });
    const strategies = eventsOf(await run.events(), 'compacted').map(({ strategy }) => strategy);
    expect(strategies).toContain('shorten');
    expect(server.requests.filter(({ outcome }) => outcome === 'faulted')).toHaveLength(strategies.length + 1);
    expect(strategies.length).toBeLessThanOrEqual(3);
  });

  it('M11: at a 413 pictures go first, with a mark in their place, and every word stays', async () => {
    const first: Message = { id: 'first', role: 'user', parts: [{ type: 'text', text: 'help me with a form' }] };
    const agreed: Message = { id: 'agreed', role: 'assistant', parts: [{ type: 'text', text: 'show me' }] };
    const picture: Message = {
      id: 'picture',
      role: 'user',
      parts: [
        { type: 'text', text: 'this is the screen' },
        { type: 'file', mime: 'image/png', dataBase64: 'A'.repeat(40_000) },
      ],
    };
    const seen: Message = { id: 'seen', role: 'assistant', parts: [{ type: 'text', text: 'I see a window' }] };
    const { on, server } = await over({ handler: refuseLarge }, [], { policy: {} });
    const run = await start(on, { messages: [first, agreed, picture, seen], task: 'what next?' });
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'ok' });
    const [refused, taken, ...others] = server.requests.map(({ body }) => JSON.stringify(body));
    expect(others).toEqual([]);
    expect(refused).toContain('A'.repeat(40_000));
    expect(taken).not.toContain('A'.repeat(100));
    for (const words of ['[image/png of 30000 bytes left out]', 'this is the screen', 'I see a window', 'what next?']) {
      expect(taken).toContain(words);
    }
    expect(eventsOf(await run.events(), 'compacted')).toMatchObject([{ why: 'overflow', messagesBefore: 5, messagesAfter: 5 }]);
  });

  it('B-31: a call that leaked into the text does not run; the model is told, and then calls the tool', async () => {
    const ran: string[] = [];
    const leaked = { text: 'Let me look.\n<tool_call>{"name": "read", "arguments": {"path": "leaked"}}</tool_call>' };
    const { on } = await over({ script: { steps: [leaked, READ, { text: 'ok' }] } }, [readTool(ran)], { policy: {} });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'ok', turns: 3 });
    expect(ran).toEqual(['a']);
    const corrections = correctionsIn(on.requests[1]?.messages ?? []);
    expect(corrections.map(textOf)).toEqual([expect.stringContaining('tool call written as text')]);
    expect(eventsOf(await run.events(), 'answer.corrected')).toMatchObject([{ turn: 1, why: expect.stringMatching(/^noise: leaked /u) }]);
  });

  it('contradiction 27: an empty stream is asked again as it was, an empty answer corrected once, then asked for without tools', async () => {
    const empty = { text: ' \n ' };
    const script = { steps: [READ, { ...empty, fault: { cutAfterBytes: 0 } }, empty], final: { text: 'what I found' } };
    const { on, server } = await over({ script }, [readTool([])], { policy: {} });
    const run = await start(on);
    const result = await run.result();
    expect(result).toMatchObject({ reason: 'completed', output: 'what I found' });
    expect(result).not.toHaveProperty('emptyAnswer', true);
    expect(server.requests.map(({ outcome }) => outcome)).toEqual(['answered', 'faulted', 'answered', 'answered', 'answered']);
    expect(server.requests[2]?.body).toEqual(server.requests[1]?.body);
    expect(on.requests.map(({ messages }) => correctionsIn(messages).length)).toEqual([0, 0, 0, 1, 1]);
    expect(on.requests.map(({ toolChoice }) => toolChoice)).toEqual(['auto', 'auto', 'auto', 'auto', 'none']);
  });

  it('contradiction 27: a model that has nothing to say even then ends the run as an empty answer, without invented text', async () => {
    const { on } = await over({ script: { steps: [READ], whenEnded: { text: '' }, final: { text: '' } } }, [readTool([])], { policy: {} });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', output: '', emptyAnswer: true });
    expect(resultTexts(await run.messages())).toEqual(['read a']);
  });
});

/** As a server does whose requests may have 20,000 bytes. */
function refuseLarge({ inputChars }: { readonly inputChars: () => number }) {
  return inputChars() > 20_000 ? { fault: { status: 413 } } : { text: 'ok' };
}

function correctionsIn(messages: readonly Message[]): Message[] {
  return messages.filter(({ origin }) => origin === 'correction');
}

function eventsOf<Type extends RunEvent['type']>(events: readonly RunEvent[], type: Type): Extract<RunEvent, { type: Type }>[] {
  return events.filter((event): event is Extract<RunEvent, { type: Type }> => event.type === type);
}

/** What the run's failed activities told beside their messages, from its history. */
async function failureDetails(run: TestRun): Promise<unknown[]> {
  const { events } = await run.handle.fetchHistory();
  const failed = (events ?? []).map((event) => event.activityTaskFailedEventAttributes?.failure?.applicationFailureInfo);
  return failed.flatMap((info) => info?.details?.payloads ?? []).map((payload) => defaultPayloadConverter.fromPayload(payload));
}
