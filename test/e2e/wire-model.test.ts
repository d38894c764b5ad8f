import { describe, it } from 'vitest';
import { z } from 'zod';
import type { RecordedRequest, ScriptInput } from '../../src/testing/index.js';
import { usePerdureFolders } from './support/perdure-folder.js';
import { messagesOf } from './support/request-messages.js';
import { modelEnv, useModels } from './support/use-models.js';

const STREAMED = 'one two three four five six seven eight nine ten';

/** Every kind of trouble a well-behaved run meets, one a turn. */
const TROUBLE: ScriptInput = {
  steps: [
    {
      text: STREAMED,
      // longer than a busy machine takes to show the first word
      chunkDelayMs: 500,
      toolCalls: [
        { name: 'look', args: { name: 'a' } },
        { name: 'look', args: { name: 'b' } },
        { name: 'send_once', args: { name: 'c' } },
      ],
    },
    { toolCalls: [{ name: 'fail', args: { why: 'of course' } }] },
    { text: 'slow down', toolCalls: [{ name: 'look', args: { name: 'd' } }], fault: { status: 429, retryAfter: 3 } },
    { text: 'broken', toolCalls: [{ name: 'look', args: { name: 'e' } }], fault: { status: 500, times: 2 } },
    { text: 'cut off', toolCalls: [{ name: 'send_once', args: { name: 'f' } }], fault: { cutAfterEvent: 'arguments' } },
    { text: 'all is done' },
  ],
};

const FORMATS = [
  { format: 'openai-chat', model: 'openai/test' },
  { format: 'openai-responses', model: 'openai-responses/test' },
  { format: 'anthropic', model: 'anthropic/test' },
] as const;

// most of the time is waiting until a model may be asked again
describe.concurrent.each(FORMATS)('a run over the wire format $format', ({ format, model: name }) => {
  const folder = usePerdureFolders();
  const model = useModels();

  it('streams, runs several calls of one answer, reads a failing tool, and asks again after 429, 500 and a cut as often as it should', async ({
    expect,
  }) => {
    const wire = await model({ script: TROUBLE, formats: [format] });
    const here = await folder(modelEnv(wire));
    const command = here.start(['run', 'go', '--model', name, '--events']);
    await command.prints('"text":"one"');
    expect(wire.requests[0]?.outcome).toBe('open');
    const { stdout } = await command.exits(0);

    const lines = stdout.trimEnd().split('\n').map(readLine);
    expect(streamedText(lines, 1)).toBe(STREAMED);
    expect(lines.at(-1)).toMatchObject({ type: 'result', result: { reason: 'completed', turns: 6, toolCalls: 7, output: 'all is done' } });
    const outcomes = 'answered answered faulted answered faulted faulted answered faulted answered answered';
    expect(wire.requests.map(({ outcome }) => outcome).join(' ')).toBe(outcomes);
    expect(gapMs(wire.requests, 2)).toBeGreaterThanOrEqual(3_000);
    expect(gapMs(wire.requests, 4)).toBeGreaterThanOrEqual(990);
    expect(gapMs(wire.requests, 5)).toBeGreaterThanOrEqual(1_990);
    const texts = JSON.stringify(messagesOf(wire.requests.at(-1)));
    expect(texts).toContain('it failed: of course');
    const order = ['look a done', 'look b done', 'send_once c done'].map((text) => texts.indexOf(text));
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(order).not.toContain(-1);
    expect((await here.startsOf('look')).map(({ name: call }) => call).toSorted()).toEqual(['a', 'b', 'd', 'e']);
    expect((await here.startsOf('send_once')).map(({ name: call }) => call)).toEqual(['c', 'f']);
  });
});

const StreamLine = z.object({
  type: z.literal('stream'),
  event: z.object({ turn: z.number(), type: z.literal('text'), text: z.string() }),
});

function readLine(line: string): unknown {
  return JSON.parse(line);
}

function streamedText(lines: readonly unknown[], turn: number): string {
  return lines
    .map((line) => StreamLine.safeParse(line))
    .map(({ data }) => (data?.event.turn === turn ? data.event.text : ''))
    .join('');
}

/** Time between this request and the next one. */
function gapMs(requests: readonly RecordedRequest[], index: number): number {
  return (requests[index + 1]?.at ?? Number.NaN) - (requests[index]?.at ?? Number.NaN);
}
