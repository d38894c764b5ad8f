import * as fc from 'fast-check';
import type { Message, Part, ToolResultPart } from '../../../../src/contracts/schemas/message.js';

/** The id of the task in every transcript made here. */
export const TASK_ID = 'task';

/** A message of a user; `origin` as the run writes it. */
export function user(id: string, text: string, origin?: Message['origin']): Message {
  return { id, role: 'user', parts: [{ type: 'text', text }], ...(origin === undefined ? {} : { origin }) };
}

/** The run's own task. */
export function task(text = 'do it'): Message {
  return user(TASK_ID, text);
}

/** An answer of plain text. */
export function answer(id: string, text: string): Message {
  return { id, role: 'assistant', parts: [{ type: 'text', text }] };
}

/** An answer that calls one tool, and what the tool gave. */
export function toolGroup(id: string, output: string, args: Record<string, string> = {}): Message[] {
  return [
    { id, role: 'assistant', parts: [{ type: 'tool_call', callId: `${id}_0`, name: 'look', args }] },
    {
      id: `${id}_0`,
      role: 'tool',
      parts: [{ type: 'tool_result', callId: `${id}_0`, isError: false, parts: [{ type: 'text', text: output }] }],
    },
  ];
}

/** A text of some length whose words do not repeat their neighbours. */
export function words(chars: number): string {
  let text = '';
  for (let n = 0; text.length < chars; n += 1) text += `word${n} `;
  return text.slice(0, chars);
}

const text = fc.oneof(
  fc.constantFrom(
    'ok',
    'look at src/loop/run.ts',
    'order_12345 and https://example.com/a?b=1',
    '',
    'a, b\n\n[compacted] 3 earlier messages',
  ),
  fc.tuple(fc.string({ maxLength: 20 }), fc.integer({ min: 0, max: 3_000 })).map(([said, chars]) => `${said} ${words(chars)}`),
);

const content: fc.Arbitrary<ToolResultPart['parts'][number]> = fc.oneof(
  { weight: 5, arbitrary: text.map((said) => ({ type: 'text' as const, text: said })) },
  {
    weight: 1,
    arbitrary: text.map((head) => ({ type: 'artifact' as const, ref: `sha256:${'ab1'.repeat(21)}f`, bytes: 100_000, head })),
  },
  {
    weight: 1,
    arbitrary: fc
      .integer({ min: 0, max: 4_000 })
      .map((chars) => ({ type: 'file' as const, mime: 'image/png', dataBase64: 'A'.repeat(chars) })),
  },
);

interface GroupSeed {
  readonly said: readonly Part[];
  readonly calls: readonly { readonly name: string; readonly arg: string; readonly parts: ToolResultPart['parts'] }[];
  readonly partial: boolean;
}

const said = fc.array(
  fc.oneof(
    text.map((it): Part => ({ type: 'text', text: it })),
    text.map((it): Part => ({ type: 'thinking', text: it, opaque: 'signed' })),
  ),
  { maxLength: 2 },
);

const answerSeed: fc.Arbitrary<GroupSeed> = fc.record({
  said,
  calls: fc.array(
    fc.record({ name: fc.constantFrom('look', 'read_file', ' odd '), arg: text, parts: fc.array(content, { maxLength: 3 }) }),
    { maxLength: 3 },
  ),
  partial: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
});

const userSeed = fc.record({
  text,
  origin: fc.constantFrom('steer' as const, 'nudge' as const, 'correction' as const, 'summary' as const),
});

/** Transcripts as a run has them: what was given, the task, then answers with their results and messages that the run wrote. */
export const transcript: fc.Arbitrary<readonly Message[]> = fc
  .record({
    given: fc.array(fc.oneof(text, answerSeed), { maxLength: 4 }),
    own: fc.array(fc.oneof({ weight: 3, arbitrary: answerSeed }, { weight: 2, arbitrary: userSeed }), { maxLength: 14 }),
  })
  .map(({ given, own }) => [
    ...given.flatMap((seed, n) => (typeof seed === 'string' ? [user(`g${n}`, seed)] : groupOf(seed, `g${n}`))),
    task(),
    ...own.flatMap((seed, n) => ('said' in seed ? groupOf(seed, `o${n}`) : [user(`o${n}`, seed.text, seed.origin)])),
  ]);

function groupOf({ said: own, calls, partial }: GroupSeed, id: string): Message[] {
  if (partial) return [{ id, role: 'assistant', partial: true, parts: [{ type: 'text', text: 'cut off' }] }];
  const callParts = calls.map(({ name, arg }, index): Part => ({ type: 'tool_call', callId: `${id}_${index}`, name, args: { arg } }));
  return [
    { id, role: 'assistant', parts: [...own, ...callParts] },
    ...calls.map(({ parts }, index): Message => {
      const callId = `${id}_${index}`;
      return { id: callId, role: 'tool', parts: [{ type: 'tool_result', callId, isError: false, parts }] };
    }),
  ];
}
