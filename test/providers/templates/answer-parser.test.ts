import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue, Part } from '../../../src/contracts/schemas/message.js';
import type { StreamDelta } from '../../../src/providers/contract/provider.js';
import { AnswerParser } from '../../../src/providers/templates/answer-parser.js';
import type { ChatTemplate } from '../../../src/providers/templates/chat-template.js';
import { GEMMA } from '../../../src/providers/templates/gemma.js';
import { PLAIN } from '../../../src/providers/templates/plain.js';
import { QWEN3 } from '../../../src/providers/templates/qwen3.js';
import { cpuMs } from '../../support/cpu-time.js';

const TOOLS = [{ name: 'read_file' }, { name: 'note' }];

interface ReadOptions {
  readonly template?: ChatTemplate;
  readonly cut?: boolean;
}

function read(chunks: readonly string[], { template = QWEN3, cut = false }: ReadOptions = {}) {
  const deltas: StreamDelta[] = [];
  const parser = new AnswerParser({ markup: template.markup, tools: TOOLS, onDelta: (delta) => deltas.push(delta) });
  for (const chunk of chunks) parser.add(chunk);
  return { parts: parser.end({ cut }), deltas };
}

const call = (args: Record<string, JsonValue>, name = 'read_file', id = 'call_0') =>
  ({ type: 'tool_call', callId: id, name, args }) as const;
const text = (words: string) => ({ type: 'text', text: words }) as const;
const thinking = (words: string) => ({ type: 'thinking', text: words }) as const;

const QWEN_CALL = '<tool_call>\n{"name": "read_file", "arguments": {"path": "a.md"}}\n</tool_call>';
const GEMMA_CALL = '```tool_code\n{"name": "read_file", "parameters": {"path": "a.md"}}\n```';

it('X32: a call that stops before 100,000 blanks is read in a moment: it would hold up the whole worker', () => {
  const answer = `{"name":${' '.repeat(100_000)}`;
  const startedAt = cpuMs();
  expect(read([answer], { template: GEMMA }).parts).toEqual([text('{"name":')]);
  expect(cpuMs() - startedAt).toBeLessThan(500);
});

it.each([
  ['within marks', QWEN3, (written: string) => `<tool_call>${written}</tool_call>`],
  ['within a fence of its own', GEMMA, (written: string) => `\`\`\`tool_code\n${written}\n\`\`\``],
] as const)('a call %s whose arguments are nested without end is told to the model as such', (_, template, within) => {
  const args = `{"path": ${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
  const { parts } = read([within(`{"name": "read_file", "arguments": ${args}}`)], { template });
  expect(parts).toEqual([{ ...call({}), argsText: args }]);
});

describe('an answer of Qwen 3', () => {
  it.each<[string, string, readonly Part[]]>([
    [
      'thinking, text and calls, in order, without the blanks between them',
      `<think>\nTwo files.\n</think>\n\nI read both.\n\n${QWEN_CALL}\n<tool_call>\n{"name": "note", "arguments": {}}\n</tool_call>`,
      [thinking('Two files.'), text('I read both.'), call({ path: 'a.md' }), call({}, 'note', 'call_1')],
    ],
    ['no thinking', '<think>\n\n</think>\n\nDone.', [text('Done.')]],
    ['a call without arguments', '<tool_call>{"name": "note"}</tool_call>', [call({}, 'note')]],
    [
      'arguments written as a string',
      '<tool_call>{"name": "note", "arguments": "{\\"line\\": 1}"}</tool_call>',
      [call({ line: 1 }, 'note')],
    ],
    [
      'the marks of a call within its own arguments',
      '<tool_call>{"name": "note", "arguments": {"line": "</tool_call><tool_call>"}}</tool_call>',
      [call({ line: '</tool_call><tool_call>' }, 'note')],
    ],
    ['a call between texts', `One. ${QWEN_CALL} Two.`, [text('One.'), call({ path: 'a.md' }), text('Two.')]],
    ['a call whose end the model forgot', QWEN_CALL.replace('</tool_call>', ''), [call({ path: 'a.md' })]],
    ['what comes after the end of the turn', `Done.<|im_end|>\n<|im_start|>user\n${QWEN_CALL}`, [text('Done.')]],
    ['a call of a tool that there is not', '<tool_call>{"name": "no_such"}</tool_call>', [call({}, 'no_such')]],
    ['JSON that is no call', '{"name": "read_file", "arguments": {}}', [text('{"name": "read_file", "arguments": {}}')]],
  ])('has %s', (_, answer, parts) => {
    expect(read([answer]).parts).toEqual(parts);
  });

  it.each([
    ['in a span', `Write \`<tool_call>{"name": "note"}</tool_call>\` to call.`],
    ['in a span of two ticks', 'Write ``<think> ` x</think>`` to think.'],
    ['in a block', `So:\n\n\`\`\`xml\n${QWEN_CALL}\n<|im_end|>\n\`\`\`\n\nThat is all.`],
    ['in a block of tildes', `~~~\n${QWEN_CALL}\n~~~`],
    ['in a longer block with a shorter one in it', `\`\`\`\`\n\`\`\`\n${QWEN_CALL}\n\`\`\`\n\`\`\`\``],
    ['in an indented block', `1. So:\n   \`\`\`\n${QWEN_CALL}\n   \`\`\``],
    ['in a block that the model left open', `\`\`\`\n${QWEN_CALL}`],
  ])('C-36: leaves marks alone that stand %s', (_, answer) => {
    expect(read([answer]).parts).toEqual([text(answer)]);
  });

  it.each([
    ['a tick that stands alone', `It's a \` tick.\n${QWEN_CALL}`],
    ['a span', `I read \`a.md\` now. ${QWEN_CALL}`],
    ['a block', `\`\`\`sh\nls\n\`\`\`\n${QWEN_CALL}`],
    ['a line that only looks like a block', `\`\`\`ls\`\`\` first\n${QWEN_CALL}`],
  ])('finds a call after %s', (_, answer) => {
    const told = answer.slice(0, -QWEN_CALL.length).trimEnd();
    expect(read([answer]).parts).toEqual([text(told), call({ path: 'a.md' })]);
  });

  it('keeps the arguments of a call as they were written when they are no JSON, also when the call has lost a bracket', () => {
    const broken = '{"line": "one\ntwo"}';
    const expected = [{ type: 'tool_call', callId: 'call_0', name: 'note', args: {}, argsText: broken }];
    expect(read([`<tool_call>\n{"name": "note", "arguments": ${broken}}\n</tool_call>`]).parts).toEqual(expected);
    expect(read(['<tool_call>{"name": "note", "arguments": {"line": 1}</tool_call>']).parts).toEqual([call({ line: 1 }, 'note')]);
  });

  it('is text where a call has no name', () => {
    const answer = '<tool_call>\nls -la\n</tool_call>';
    expect(read([answer]).parts).toEqual([text(answer)]);
  });

  it('cut anywhere within a call has no call that could run; what the output limit cut is told with its name', () => {
    for (let end = 0; end < QWEN_CALL.length - '}\n</tool_call>'.length; end += 1) {
      const half = QWEN_CALL.slice(0, end);
      expect(read([half]).parts.filter((part) => part.type === 'tool_call')).toEqual([]);
      const told = read([half], { cut: true }).parts.filter((part) => part.type === 'tool_call');
      expect(told.filter(({ name, args }) => name !== 'read_file' || JSON.stringify(args) !== '{}')).toEqual([]);
    }
    const late = QWEN_CALL.slice(0, QWEN_CALL.indexOf('a.md') + 2);
    expect(read([late], { cut: true }).parts).toEqual([{ ...call({}), argsText: '{"path": "a.' }]);
  });

  it('is read in time in proportion to its length, whatever is in it', () => {
    const answers = [
      `<tool_call>{"name": "note", "arguments": {"line": "${'</tool_call>'.repeat(100_000)}`,
      '<tool_call>'.repeat(100_000),
      '<'.repeat(1_000_000),
      '`'.repeat(1_000_000),
      ' '.repeat(1_000_000),
      `<think>${'</think'.repeat(150_000)}`,
    ];
    for (const answer of answers) {
      const startedAt = cpuMs();
      const chunks = Array.from({ length: Math.ceil(answer.length / 20) }, (_, index) => answer.slice(index * 20, index * 20 + 20));
      for (const template of [QWEN3, GEMMA, PLAIN]) read(chunks, { template });
      expect(cpuMs() - startedAt).toBeLessThan(4_000);
    }
  });
});

describe('an answer of Gemma', () => {
  it.each<[string, string, readonly Part[]]>([
    ['text and a call in a block', `I read it.\n${GEMMA_CALL}`, [text('I read it.'), call({ path: 'a.md' })]],
    ['two calls', `${GEMMA_CALL}\n${GEMMA_CALL}`, [call({ path: 'a.md' }), call({ path: 'a.md' }, 'read_file', 'call_1')]],
    [
      'a list of calls',
      '```tool_code\n[{"name": "note", "parameters": {}}, {"name": "note"}]\n```',
      [call({}, 'note'), call({}, 'note', 'call_1')],
    ],
    ['a bare call', '{"name": "note", "parameters": {"line": 1}}\n', [call({ line: 1 }, 'note')]],
    ['a bare call in a block of JSON', '```json\n[{"name": "note", "parameters": {"line": 1}}]\n```', [call({ line: 1 }, 'note')]],
    ['an object that only looks like a call', '{"name": "Ada", "parameters": {}}', [text('{"name": "Ada", "parameters": {}}')]],
    ['a bare call after a text', 'See: {"name": "note", "parameters": {}}', [text('See: {"name": "note", "parameters": {}}')]],
    [
      'three ticks within arguments',
      '```tool_code\n{"name": "note", "parameters": {"line": "```\\n```"}}\n```',
      [call({ line: '```\n```' }, 'note')],
    ],
    ['other code', '```python\nprint(1)\n```<end_of_turn>', [text('```python\nprint(1)\n```')]],
    ['a call within another block', `\`\`\`\`\n${GEMMA_CALL}\n\`\`\`\``, [text(`\`\`\`\`\n${GEMMA_CALL}\n\`\`\`\``)]],
  ])('has %s', (_, answer, parts) => {
    expect(read([answer], { template: GEMMA }).parts).toEqual(parts);
  });
});

describe('an answer in plain text', () => {
  it('ends where another turn would begin, and has no calls', () => {
    expect(read([` Sure: ${QWEN_CALL}\nUser: and then?`], { template: PLAIN }).parts).toEqual([text(`Sure: ${QWEN_CALL}`)]);
  });
});

const PIECES = [
  QWEN_CALL,
  GEMMA_CALL,
  '<think>',
  '</think>',
  '<tool_call>',
  '</tool_call>',
  '{"name": "note", "arguments": {"line": "x',
  '"}}',
  '```',
  '`',
  '\n',
  ' ',
  '<',
  'Words and words.',
  '{"name": "note", "parameters": {}}',
  '<|im_end|>',
  '<end_of_turn>',
  '\nUser:',
  '東京 👍',
];

describe.each([QWEN3, GEMMA, PLAIN])('any answer of $name', (template) => {
  const answer = fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((pieces) => pieces.join(''));

  it('is the same however it is cut into chunks, and what was streamed is what it is', () => {
    fc.assert(
      fc.property(answer, fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }), fc.boolean(), (whole, sizes, cut) => {
        const chunks: string[] = [];
        for (let at = 0, turn = 0; at < whole.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1;
          chunks.push(whole.slice(at, at + size));
          at += size;
        }
        const { parts, deltas } = read(chunks, { template, cut });
        expect(parts).toEqual(read([whole], { template, cut }).parts);
        for (const type of ['text', 'thinking'] as const) {
          const streamed = deltas.flatMap((delta) => (delta.type === type ? [delta.text] : [])).join('');
          expect(streamed).toBe(parts.flatMap((part) => (part.type === type ? [part.text] : [])).join(''));
        }
        const calls = parts.filter((part) => part.type === 'tool_call');
        expect(deltas.filter((delta) => delta.type === 'tool_call')).toHaveLength(calls.length);
        expect(new Set(calls.map((part) => part.callId)).size).toBe(calls.length);
      }),
      { numRuns: 2_000 },
    );
  });
});
