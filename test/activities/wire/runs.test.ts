import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { CallModelResult } from '../../../src/contracts/activities.js';
import { textOf } from '../../../src/contracts/message-text.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { createAnthropicProvider } from '../../../src/providers/anthropic/anthropic.js';
import { startWireServer } from '../../../src/testing/wire-server.js';
import { type TestRun, until, useWorkers } from '../../support/use-workers.js';
import { overWire, readTool, WIRE_FORMATS } from '../support/over-wire.js';
import { resultTexts } from '../support/result-texts.js';

/** What a model sends for arguments that are none, and why they are refused. */
const UNUSABLE: readonly (readonly [argsText: string, why: string])[] = [
  ['{"path": "a', 'Unterminated string'],
  ['null', 'not a JSON object'],
  ['[]', 'not a JSON object'],
  ['"x"', 'not a JSON object'],
  ['1', 'not a JSON object'],
  ['', 'path: '],
  ['{"path":"a"} and so on', 'Unexpected'],
  ['{"path":"a","path":"b"}', 'an object has the same key twice'],
  ['{"path":NaN}', 'Unexpected'],
  ['{"path":7}', 'path: '],
];

describe.each(WIRE_FORMATS)('a run whose model answers over $format', (wire) => {
  const { over, start } = overWire(wire);

  it('B31: unusable arguments run no tool and are told with the schema; the other calls of the answer run', async () => {
    const ran: string[] = [];
    const texts = ['{"path":"first"}', ...UNUSABLE.map(([argsText]) => argsText), '{"path":"last"}'];
    const toolCalls = texts.map((argsText) => ({ name: 'read', argsText }));
    const { on } = await over({ script: { steps: [{ toolCalls }, { text: 'ok' }] } }, [readTool(ran)]);
    expect(await (await start(on)).result()).toMatchObject({ reason: 'completed', output: 'ok', toolCalls: texts.length });
    expect(ran.toSorted()).toEqual(['first', 'last']);
    const told = resultTexts(on.requests[1]?.messages ?? []);
    expect([told.at(0), told.at(-1)]).toEqual(['read first', 'read last']);
    const refused = told.slice(1, -1).map((text) => text.split(/; (?:schema|you sent \(first 800 chars\)): /u));
    expect(refused).toEqual(
      UNUSABLE.map(([argsText, why]) => [
        expect.stringContaining(`invalid arguments for read: ${why}`),
        expect.stringContaining('{"type":"object","properties":{"path"'),
        argsText || '{}',
      ]),
    );
  });

  it('B31: nothing at all stands for no arguments where none are needed', async () => {
    const tool = defineTool({ name: 'look', description: 'Looks.', parameters: z.strictObject({}), effect: 'read', execute: () => 'seen' });
    const { on } = await over({ script: { steps: [{ toolCalls: [{ name: 'look', argsText: '' }] }, { text: 'ok' }] } }, [tool]);
    await (await start(on)).result();
    expect(resultTexts(on.requests[1]?.messages ?? [])).toEqual(['seen']);
  });

  it('B-20: arguments that lack only form are repaired: the tool runs with what was meant, and no server ever sees what was sent', async () => {
    const ran: string[] = [];
    const texts = ['{"path":"two\nlines"}', '{"path":"no end"', '```json\n{"path":"in a fence"}\n```', '{"path":"comma",}'];
    const toolCalls = texts.map((argsText) => ({ name: 'read', argsText }));
    const { on, server } = await over({ script: { steps: [{ toolCalls }, { text: 'ok' }] } }, [readTool(ran)]);
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 2 });
    expect(ran.toSorted()).toEqual(['comma', 'in a fence', 'no end', 'two\nlines']);
    expect(server.requests.map(({ outcome }) => outcome)).toEqual(['answered', 'answered']);
    const calls = (await run.messages()).flatMap(({ parts }) => parts.filter((part) => part.type === 'tool_call'));
    expect(calls.map(({ args, argsText }) => ({ args, argsText }))).toEqual(
      ['two\nlines', 'no end', 'in a fence', 'comma'].map((path) => ({ args: { path }, argsText: undefined })),
    );
    expect(await modelResults(run)).toMatchObject([{ repaired: texts.length }, {}]);
  });

  it('B-20: half a call that the length limit cut is never repaired, and never run', async () => {
    const ran: string[] = [];
    const cut = { toolCalls: [{ name: 'read', argsText: '{"path":"whole?"' }], stop: 'length' as const };
    const { on } = await over({ script: { steps: [cut, { text: 'ok' }] } }, [readTool(ran)]);
    expect(await (await start(on)).result()).toMatchObject({ reason: 'completed', output: 'ok' });
    expect(ran).toEqual([]);
    expect(resultTexts(on.requests[1]?.messages ?? [])).toHaveLength(1);
  });

  it('B33: a name that is no tool runs nothing, however near it is, and the model reads the names there are', async () => {
    const ran: string[] = [];
    const names = ['Read', 'functions.read', 'reads', '', 'read '];
    const toolCalls = [...names, 'read'].map((name) => ({ name, args: { path: name } }));
    const { on, server } = await over({ script: { steps: [{ toolCalls }, { text: 'ok' }] } }, [readTool(ran)]);
    expect(await (await start(on)).result()).toMatchObject({ reason: 'completed', output: 'ok' });
    expect(ran).toEqual(['read']);
    const told = resultTexts(on.requests[1]?.messages ?? []);
    expect(told.slice(0, names.length)).toEqual(names.map((name) => `no tool named ${JSON.stringify(name)}; available: read`));
    expect(server.requests.map(({ problem }) => problem)).toEqual([undefined, undefined]);
  });

  it('M22, B34: ids that repeat within a turn and over turns, or that no server takes back, part no call from its result', async () => {
    const ran: string[] = [];
    const ids = [
      ['same', 'same', 'x'.repeat(500)],
      ['same', 'a.b:c/ü', 'same'],
    ];
    const steps = ids.map((turn, at) => ({ toolCalls: turn.map((id, index) => ({ name: 'read', id, args: { path: `${at}.${index}` } })) }));
    const { on, server } = await over({ script: { steps: [...steps, { text: 'ok' }] } }, [readTool(ran)]);
    expect(await (await start(on)).result()).toMatchObject({ reason: 'completed', toolCalls: 6 });
    expect(ran.toSorted()).toEqual(['0.0', '0.1', '0.2', '1.0', '1.1', '1.2']);
    expect(resultTexts(on.requests[2]?.messages ?? [])).toEqual(['0.0', '0.1', '0.2', '1.0', '1.1', '1.2'].map((path) => `read ${path}`));
    // a strict server took each request: every id is legal, unique and has its result
    expect(server.requests.map(({ problem }) => problem)).toEqual([undefined, undefined, undefined]);
  });

  it('M23: forty calls of one answer run four at once, and their results stand in the order of the calls', async () => {
    let active = 0;
    let most = 0;
    const tool = defineTool({
      name: 'read',
      description: 'Reads.',
      parameters: z.strictObject({ path: z.string() }),
      effect: 'read',
      async execute({ path }) {
        active += 1;
        most = Math.max(most, active);
        await until(() => most >= 4, 'four calls at once');
        active -= 1;
        return `read ${path}`;
      },
    });
    const paths = Array.from({ length: 40 }, (_, index) => `file ${index}`);
    const toolCalls = paths.map((path) => ({ name: 'read', args: { path } }));
    const { on } = await over({ script: { steps: [{ toolCalls }, { text: 'ok' }] } }, [tool]);
    expect(await (await start(on)).result()).toMatchObject({ reason: 'completed', toolCalls: 40 });
    expect(most).toBe(4);
    expect(resultTexts(on.requests[1]?.messages ?? [])).toEqual(paths.map((path) => `read ${path}`));
  });

  it('M28: missing and negative usage is counted by estimate, and the budget is kept by it', async () => {
    const steps = [{ inputTokens: -5 }, { outputTokens: -1 }, 'none' as const].map((usage) => ({
      usage,
      toolCalls: [{ name: 'read', args: { path: 'a' } }],
    }));
    const script = { steps: [...steps, { text: 'ok', usage: 'none' as const }], final: { text: 'sum', usage: 'none' as const } };
    const { on } = await over({ script }, [readTool([])]);
    const { reason, usage } = await (await start(on)).result();
    expect(reason).toBe('completed');
    expect(usage.inputTokens).toBeGreaterThan(4 * 50);
    expect(usage.outputTokens).toBeGreaterThan(0);
    const run = await start(on, { maxTokens: usage.inputTokens + usage.outputTokens + 200 });
    expect(await run.result()).toMatchObject({ reason: 'budget' });
  });

  it('M20: a refusal ends the run as one, with its text, after one request', async () => {
    const { on, server } = await over({ script: { steps: [{ text: 'I would rather not.', stop: 'refusal' }] } }, []);
    expect(await (await start(on)).result()).toMatchObject({ reason: 'refusal', output: 'I would rather not.' });
    expect(server.requests).toHaveLength(1);
  });
});

describe('a run whose model pauses', () => {
  const { worker, start } = useWorkers();
  const PAUSED = { text: 'A part.', stop: 'paused' } as const;

  it.each([
    [
      'M21: is given its own words back as they were, up to ten times in a row',
      [...Array.from({ length: 10 }, () => PAUSED), { text: 'The end.' }],
      'The end.',
    ],
    ['M21: is not asked an eleventh time', Array.from({ length: 20 }, () => PAUSED), 'A part.'],
  ])('%s', async (_, steps, output) => {
    const server = await startWireServer({ script: { steps }, formats: ['anthropic'] });
    try {
      const provider = createAnthropicProvider({ baseUrl: server.anthropicBaseUrl, apiKey: server.apiKey });
      const on = await worker({ model: (request) => provider.call(request) });
      expect(await (await start(on)).result()).toMatchObject({ reason: 'completed', output, turns: 11 });
      expect(server.requests).toHaveLength(11);
      const given = on.requests
        .at(-1)
        ?.messages.filter(({ role }) => role === 'assistant')
        .map(textOf);
      expect(given).toEqual(Array.from({ length: 10 }, () => 'A part.'));
    } finally {
      await server.close();
    }
  });
});

/** What the run's model calls returned, from its history. */
async function modelResults(run: TestRun): Promise<CallModelResult[]> {
  const { events } = await run.handle.fetchHistory();
  const results = (events ?? []).flatMap((event) => event.activityTaskCompletedEventAttributes?.result?.payloads ?? []);
  return results.map(decode).filter(isModelResult);
}

function decode(payload: Payload): unknown {
  return defaultPayloadConverter.fromPayload(payload);
}

function isModelResult(value: unknown): value is CallModelResult {
  return value !== null && typeof value === 'object' && 'kind' in value && value.kind === 'answer';
}
