import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseArgumentsText, repairArguments, repairCalls, toolCallPart } from '../../../src/providers/transcript/parse-arguments.js';
import { cpuMs } from '../../support/cpu-time.js';

it.each([
  ['escaped', '{"path":"a\\ud83d","\\uDE00":["\\ud83d\\ude00"]}'],
  ['as it is', '{"path":"a\ud83d","\ude00":["\ud83d\ude00"]}'],
])('B3: half a sign in arguments, %s, is replaced: servers refuse every later request that holds it', (_, text) => {
  expect(parseArgumentsText(text)).toEqual({ args: { path: 'a\ufffd', '\ufffd': ['\u{1f600}'] } });
});

it('X32: a string of megabytes of escapes is an argument like any other', () => {
  const text = 'a\n'.repeat(4_000_000);
  expect(parseArgumentsText(JSON.stringify({ 'a:b': text })) as unknown).toEqual({ args: { 'a:b': text } });
});

describe('B-20: arguments that lack only form are repaired', () => {
  it.each([
    ['a literal line break in a string', '{"text":"one\ntwo\r\n\tthree"}', { text: 'one\ntwo\r\n\tthree' }],
    ['a missing bracket', '{"path":"a.md"', { path: 'a.md' }],
    ['several missing brackets', '{"edits":[{"old":"a","new":"b"', { edits: [{ old: 'a', new: 'b' }] }],
    ['a missing bracket within', '{"lines":[1,2}', { lines: [1, 2] }],
    ['a bracket too many', '{"path":"a.md"}}', { path: 'a.md' }],
    ['a code fence', '```json\n{"path":"a.md"}\n```', { path: 'a.md' }],
    ['a trailing comma', '{"path":"a.md","lines":[1,2,],}', { path: 'a.md', lines: [1, 2] }],
    ['a missing comma', '{"path":"a.md" "limit":2}', { path: 'a.md', limit: 2 }],
    ['single quotes', `{'path':'it is "a"'}`, { path: 'it is "a"' }],
    ['bare keys', '{path: "a.md", limit : 2}', { path: 'a.md', limit: 2 }],
    ['words of Python', "{'all': True, 'none': None, 'not': False}", { all: true, none: null, not: false }],
    ['a list of a text that begins like a list, its end missing', '{"a":["[\\n\\t"],"end":"here"', { a: ['[\n\t'], end: 'here' }],
    ['a list of a text that begins like a list and breaks', '{"a":["[\n\t"],"end":"here"}', { a: ['[\n\t'], end: 'here' }],
    ['a byte order mark and a fence in a string', '\uFEFF{"text":"```\n```"', { text: '```\n```' }],
  ])('%s', (_, text, args) => {
    const call = toolCallPart('c', 'act', text);
    expect(call).toMatchObject({ args: {}, argsText: text });
    expect(repairCalls([call])).toEqual({ parts: [{ type: 'tool_call', callId: 'c', name: 'act', args }], repaired: 1 });
    const signed = { ...call, opaque: 'signed' };
    expect(repairCalls([signed]).parts).toEqual([{ type: 'tool_call', callId: 'c', name: 'act', args, opaque: 'signed' }]);
  });

  it('whatever the object, its brackets, breaks and commas: the values are those that were meant', () => {
    const key = fc.string({ unit: 'grapheme', maxLength: 8 });
    const args = fc.dictionary(key, fc.letrec((tie) => ({ value: valueOf(tie('value')) })).value, { minKeys: 1, maxKeys: 6 });
    fc.assert(
      fc.property(args, fc.nat(), fc.constantFrom(...DAMAGES), (meant, seed, damage) => {
        const text = damage(JSON.stringify({ ...meant, end: 'here' }), seed);
        const repaired = repairArguments(text);
        expect(repaired === undefined ? undefined : JSON.parse(repaired)).toEqual({ ...meant, end: 'here' });
      }),
      { numRuns: 200 },
    );
  });
});

describe('B31: arguments that lack more than form stay as they were sent', () => {
  it.each([
    ['a text cut within a string', '{"command":"rm -rf build/o'],
    ['a text cut after a number', '{"path":"a","limit":1'],
    ['a text cut after a colon', '{"path":'],
    ['a text cut after a key', '{"path":"a","limit"'],
    ['a text cut after a comma', '{"command":"rm -rf build",'],
    ['a text cut after a comma and a break', '{"paths":["a",\n  '],
    ['a fenced text cut after a comma', '```json\n{"path":"a",\n```'],
    ['a text cut after a bracket', '{"paths":["a"],"options":[{"all":true},{'],
    ['a text cut within a word', '{"all":tru'],
    ['a missing value', '{"path":,"limit":2}'],
    ['a missing colon', '{"path" "a"}'],
    ['a bare word', '{"command": ls}'],
    ['quotes within a string', '{"text":"say "hi" now"}'],
    ['an escape that JSON does not know', String.raw`{"path":"C:\Users"}`],
    ['NaN', '{"limit":NaN}'],
    ['a number that is none', '{"limit":007}'],
    ['text after the object', '{"path":"a"} and so on'],
    ['text before the object', 'Here it is: {"path":"a"}'],
    ['two objects', '{"path":"a"}\n{"path":"b"}'],
    ['an object that would end up within another value', '{"lines":[1,2,"path":"a"}'],
    ['the same key twice', '{"path":"a","path":"b"'],
    ['a number', '1'],
    ['a text', '"{}"'],
    ['a list', '[{"path":"a"}]'],
    ['a list without its end', '[{"path":"a"}'],
    ['null', 'null'],
    ['a bare line', 'ls -la'],
    ['endless brackets', '{"a":'.repeat(20_000)],
    ['brackets nested too deep', `{"a":${'['.repeat(150)}"b"`],
  ])('%s', (_, text) => {
    const call = toolCallPart('c', 'act', text);
    expect(call).toEqual({ type: 'tool_call', callId: 'c', name: 'act', args: {}, argsText: text });
    expect(repairCalls([call])).toEqual({ parts: [call], repaired: 0 });
  });

  it.each(['{"path":"a"', '{"path":{"of":"a"}', '["a"'])('%s of a gateway that may hide a cut is not closed', (argsText) => {
    const call = toolCallPart('c', 'act', argsText);
    expect(repairCalls([call], { mayBeCut: true })).toEqual({ parts: [call], repaired: 0 });
  });

  it.each([`{'path': 'a'}`, '```json\n{"path":"a"}\n```', '{"path":"a [ {",}'])(
    '%s lacks no bracket, and is repaired behind a gateway too',
    (argsText) => {
      expect(repairCalls([toolCallPart('c', 'act', argsText)], { mayBeCut: true }).repaired).toBe(1);
    },
  );

  it('of two members with one name, however written, none is taken; the same name in two objects is fine', () => {
    for (const text of ['{"a":1,"b":2,"a":3}', '{"a":{"b":1,"b":1}}', String.raw`{"a":1,"\u0061":2}`]) {
      expect(parseArgumentsText(text)).toEqual({ problem: 'an object has the same key twice' });
    }
    const text = String.raw`{"a":{"b":1},"c":[{"b":"x:\":y"},{"__proto__":{":":1}}]}`;
    expect(parseArgumentsText(text)).toEqual({ args: JSON.parse(text) });
  });

  it('a text cut anywhere is refused, or repaired to whole values that it held', () => {
    const whole = '{"path":"a.md","edits":[{"old":"a\\nb","new":"c: {"},{"all":true,"limit":12.5}],"end":null}';
    for (let end = 0; end < whole.length; end += 1) {
      const repaired = repairArguments(whole.slice(0, end));
      const values = repaired === undefined ? [] : valuesOf(JSON.parse(repaired));
      expect(values).toEqual(valuesOf(JSON.parse(whole)).slice(0, values.length));
    }
  });
});

it('repairing takes less than two seconds for the worst that a model may send', () => {
  const content = 'x\n'.repeat(115_000);
  const texts = [
    `{"a":["${content}",${'1 '.repeat(1_900)}]}`,
    `{"a":["${content}",${'[1,],'.repeat(900)}]`,
    `{"a":["${content}",${'[,'.repeat(10_000)}`,
    `{"a":[${'1 '.repeat(500_000)}`,
    `{"a":"${'\\'.repeat(250_001)}`,
  ];
  for (const text of texts) {
    const startedAt = cpuMs();
    repairArguments(text);
    expect(cpuMs() - startedAt).toBeLessThan(2_000);
  }
});

const LITERAL: Readonly<Record<string, string>> = { '\\n': '\n', '\\t': '\t', '\\r': '\r' };

type Damage = (json: string, seed: number) => string;

/** What models do to JSON. Each leaves the values as they are. */
const DAMAGES: readonly Damage[] = [
  (json) => json.replace(/[\]}]+$/u, ''),
  (json, seed) => json.slice(0, json.length - (seed % 2)),
  (json) => `${json}}`,
  (json) => json.replaceAll(/\\./gu, (pair) => LITERAL[pair] ?? pair),
  (json) => `\`\`\`json\n${json}\n\`\`\``,
  (json) => json.replace(/\}$/u, ',}'),
  (json) => `\n  ${json.replace(/\}$/u, '\n')}`,
];

function valueOf(inner: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const scalar = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => `${text}\n\t`),
    fc.string({ unit: fc.constantFrom('[', ']', '{', '}', ',', ':', '"', "'", '\n', '\\', '`', '0', 'a', ' '), maxLength: 6 }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
  );
  return fc.oneof({ depthSize: 'small' }, scalar, fc.array(inner, { maxLength: 4 }), fc.dictionary(fc.string({ maxLength: 4 }), inner));
}

/** Names and values in the order in which they are written. */
function valuesOf(value: unknown): unknown[] {
  if (value === null || typeof value !== 'object') return [value];
  if (Array.isArray(value)) return value.flatMap(valuesOf);
  return Object.entries(value).flatMap(([name, inner]) => [name, ...valuesOf(inner)]);
}
