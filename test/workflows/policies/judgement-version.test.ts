import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/contracts/schemas/message.js';
import { DEFAULT_POLICY } from '../../../src/contracts/schemas/policy.js';
import { judgeQuality } from '../../../src/workflows/policies/answer/answer-quality.js';
import { callSignature, resultSignature, turnShape } from '../../../src/workflows/policies/loop/call-signature.js';

const ANSWERS = [
  'The file has three parts.',
  'Let me check the file.',
  "Next, I'll run the tests.",
  "I'm going to look at src/a.ts now:",
  'Let me know once you have decided.',
  'I will read it, unless you object.',
  'All tests pass. I need to add that this took a while.',
  '<tool_call>{"name": "read_file", "arguments": {"path": "a"}}</tool_call>',
  'The tag `<tool_call>` marks a call.',
  '<function=read_file>\n<parameter=path>a</parameter>',
  '[TOOL_CALLS]read_file[ARGS]{"path": "a"}',
  '{"name": "read_file", "arguments": {"path": "a"}}',
  '{"name": "Ada", "input": {"born": 1815}}',
  'Action: read_file\nAction Input: {"path": "a"}',
  'no '.repeat(40),
  'ha ha ha',
  '```\nLet me check the file.\n```',
  'Fertig. Ich schaue mir jetzt die Datei an.',
];

const RESULTS = [
  'built in 1.2s',
  'built in 3 min 2 s',
  'at 2026-11-21T13:38:40.123Z: ok',
  'at 21 Nov 2026 13:38:40 GMT: ok',
  'pid 4711 took 12 ms',
  '"requestId": "req_1", "durationMs": 12',
  'node[4711]: listening',
  'object at 0x7ffee4',
  'commit 9f86d081884c7d65',
  'uuid 123e4567-e89b-12d3-a456-426614174000',
  '12 files changed, 3 insertions',
  'a.ts:12:30 error',
  '50% of 1,024 KiB',
  'started 1795374513799',
];

const CALLS = [
  { name: 'read_file', args: { path: 'a.ts', limit: 10 } },
  { name: 'read_file', args: { limit: 11, path: 'A.ts ' } },
  { name: 'search', args: { query: 'Ünïcode 12', at: '13:38:40' } },
  { name: 'broken', args: {}, argsText: '{"path": ' },
];

/** What a version says of the texts above. A file of a version that was released is never changed. */
const saved = (version: number): unknown => JSON.parse(readFileSync(new URL(`./judgement-${version}.json`, import.meta.url), 'utf8'));

describe('judgements that read text', () => {
  it('A3: say what they said when their version was released: another algorithm is another version', () => {
    const judged = {
      answers: ANSWERS.map((text) => judgeQuality(answer(text), { turnsWithoutCalls: 1, tools: ['read_file', 'search'] }).kind),
      results: RESULTS.map((text) => resultSignature([result(text)])),
      calls: CALLS.map((call) => [callSignature(call), turnShape([call])]),
    };
    // a run in flight would replay otherwise: keep the algorithm of version 1, and add the new one as `judgement: 2`
    expect(judged).toEqual(saved(DEFAULT_POLICY.judgement));
  });
});

function answer(text: string): Message {
  return { id: 'a', role: 'assistant', parts: [{ type: 'text', text }] };
}

function result(text: string): Message {
  return { id: 'r', role: 'tool', parts: [{ type: 'tool_result', callId: 'r', isError: false, parts: [{ type: 'text', text }] }] };
}
