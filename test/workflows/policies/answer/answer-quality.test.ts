import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../src/contracts/schemas/message.js';
import { type AnswerQuality, judgeQuality, type QualityContext } from '../../../../src/workflows/policies/answer/answer-quality.js';
import { cpuMs } from '../../../support/cpu-time.js';

const TOOLS = ['read_file', 'run_command'];
const FIRST: QualityContext = { turnsWithoutCalls: 1, tools: TOOLS };
const FENCE = '```';
/** A text read in quadratic time takes ten times as long, also on an idle machine. */
const WORKFLOW_TASK_MS = 4_000;

describe('judgeQuality: markup of calls that leaked into text', () => {
  it.each([
    ['Hermes and Qwen', '<tool_call>\n{"name": "read_file", "arguments": {"path": "a"}}\n</tool_call>', '<tool_call>'],
    ['Hermes, after a sentence', 'Let me look. <tool_call>{"name": "read_file", "arguments": {}}</tool_call>', '<tool_call>'],
    ['GLM', '<tool_call>read_file\n<arg_key>path</arg_key><arg_value>a</arg_value></tool_call>', '<tool_call>'],
    ['Qwen coder', 'I will read it.\n<function=read_file>\n<parameter=path>a</parameter>\n</function>', '<function=…>'],
    ['Anthropic', '<invoke name="read_file">\n<parameter name="path">a</parameter>', '<invoke …>'],
    ['Anthropic, with its block', '<function_calls>\n<invoke name="read_file">', '<tool_call>'],
    ['Mistral', '[TOOL_CALLS] [{"name": "read_file", "arguments": {"path": "a"}}]', '[TOOL_CALLS]'],
    ['Mistral, newer', '[TOOL_CALLS]read_file[ARGS]{"path": "a"}', '[TOOL_CALLS]'],
    ['Llama', '<|python_tag|>read_file.call(path="a")', '<|python_tag|>'],
    ['DeepSeek', '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file', '<|tool_calls_begin|>'],
    ['Kimi', '<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0', '<|tool_calls_begin|>'],
    ['DeepSeek, newer', '<｜DSML｜function_calls>\n<｜DSML｜invoke name="read_file">', '<｜DSML｜…>'],
    ['gpt-oss', '<|channel|>commentary to=functions.read_file <|message|>{"path":"a"}', '<|channel|>'],
    ['ReAct', 'Thought: look\nAction: read_file\nAction Input: {"path": "a"}', 'Action Input:'],
    ['JSON alone', '{"name": "read_file", "arguments": {"path": "a"}}', 'a JSON call'],
    ['JSON below a text', 'I need the file.\n\n{"tool": "read_file", "args": {"path": "a"}}', 'a JSON call'],
    ['JSON of the API', '{"type": "function", "function": {"name": "read_file", "arguments": "{}"}}', 'a JSON call'],
    ['JSON in a block', `${FENCE}json\n{"name": "read_file", "arguments": {"path": "a"}}\n${FENCE}`, 'a JSON call'],
    ['JSON in a block that is never closed', `${FENCE}json\n[{"name": "read_file", "parameters": {}}]`, 'a JSON call'],
    ['announced JSON', `I'll read the file:\n${FENCE}json\n{"name": "read_file", "arguments": {}}\n${FENCE}`, 'a JSON call'],
    ['Gemini', `${FENCE}tool_code\nprint(read_file(path="a"))\n${FENCE}`, `${FENCE}tool_code`],
    ['a tag in a block that is all there is', `${FENCE}xml\n<tool_call>\n{"name": "x"}\n</tool_call>\n${FENCE}`, '<tool_call>'],
  ])('B-31: a call in the markup of %s is noise, and the correction names it', (_, text, what) => {
    const quality = judge(text);
    expect(quality).toMatchObject({ kind: 'noise', what: `leaked ${what}` });
    expect(correctionOf(quality)).toContain(what);
    expect(correctionOf(quality)).toContain('through the tool interface');
  });

  it.each([
    ['spoken of', 'Hermes models write <tool_call> tags around their calls; <function=name> is the style of others.'],
    ['at the beginning of a sentence', '<tool_call> is the tag that Hermes uses.'],
    ['in backticks', 'The model wrote `<tool_call>{"name": "read_file", "arguments": {}}</tool_call>` into its text.'],
    ['in quotes', 'It answered "<invoke name="read_file">" and stopped.'],
    [
      'in a block that is explained',
      `This is what leaks:\n${FENCE}\n<tool_call>{"name": "x"}</tool_call>\n${FENCE}\nIt is cut by the server.`,
    ],
    [
      'in a block at the end of an explanation',
      `Hermes calls look like this:\n\n${FENCE}xml\n<tool_call>{"name": "x"}</tool_call>\n${FENCE}`,
    ],
    ['of JSON that names no tool here', '{"name": "Ada", "input": {"born": 1815}}'],
    ['of JSON without arguments', '{"name": "read_file", "size": 3}'],
    ['of JSON with a text behind it', '{"name": "read_file", "arguments": {}}\nis the call that failed.'],
    ['of JSON in an explained block', `The request body is:\n${FENCE}json\n{"name": "read_file", "arguments": {}}\n${FENCE}`],
    ['in a block among other text', `${FENCE}json\n{"name": "read_file", "arguments": {}}\n${FENCE}\nThat was the call.`],
  ])('B-31: markup %s is text', (_, text) => {
    expect(judge(text)).toEqual({ kind: 'signal' });
  });

  it('B-31: JSON alone is a call also when the tools are not known, JSON below a text is not', () => {
    const json = '{"name": "anything", "arguments": {}}';
    expect(judge(json, { turnsWithoutCalls: 1 }).kind).toBe('noise');
    expect(judge(`Here it is.\n${json}`, { turnsWithoutCalls: 1 }).kind).toBe('signal');
  });

  it('B-31: the first correction of the chain wins', () => {
    const text = 'Let me look. <tool_call>{"name": "read_file"}</tool_call>\n\nLet me read the file.';
    expect(judge(text)).toMatchObject({ kind: 'noise' });
  });
});

describe('judgeQuality: repetition', () => {
  it.each([
    ['one character', '!'.repeat(200)],
    ['one word', 'the '.repeat(50)],
    ['one line', 'I am sorry, I cannot do that.\n'.repeat(12)],
    ['one line, its last time cut', `${'Reading the file again.\n'.repeat(12)}Reading the`],
    ['two lines in change', 'Yes, that works.\nNo, it does not.\n\n'.repeat(20)],
  ])('an answer that is %s again and again is noise', (_, text) => {
    expect(judge(text)).toMatchObject({ kind: 'noise', what: 'repetition' });
  });

  it.each([
    ['a short one', 'ha ha ha ha ha ha ha'],
    ['a table', Array.from({ length: 20 }, (_, index) => `| row ${index} | ok |`).join('\n')],
    ['a text with one rule', `Done.\n${'-'.repeat(80)}\nAll 3 tests pass.`],
    ['a refrain', 'Row, row, row your boat,\ngently down the stream.\nMerrily, merrily, merrily, merrily,\nlife is but a dream.'],
  ])('%s is a signal', (_, text) => {
    expect(judge(text)).toEqual({ kind: 'signal' });
  });

  it('what is said again word for word after a correction is meant', () => {
    const text = 'x'.repeat(100);
    expect(judge(text, { ...FIRST, turnsWithoutCalls: 2, previousText: `${text}\n` })).toEqual({ kind: 'signal' });
  });
});

describe('judgeQuality: stall', () => {
  it.each([
    'Let me check the file.',
    "I'll start by reading the configuration.",
    'I will now run the tests.',
    'I’m going to look at src/index.ts next…',
    'The bug is in the parser. Next, I will fix it.',
    'Okay, let me first take a look at the folder structure:',
    "Great! Now I'll update the documentation for you.",
    'First I will inspect the logs. Then I will write a report.',
    "I'm now searching the code for callers.",
    "Let's get started.",
    '**Let me verify the result.**',
    'Let me check if the file exists.',
  ])('an answer that only announces work is a stall: %s', (text) => {
    const quality = judge(text);
    expect(quality).toMatchObject({ kind: 'stall', what: 'announced work' });
    expect(correctionOf(quality)).toMatch(/called no tool.*Do it now/u);
  });

  it.each([
    'Done.',
    '42',
    'The tests pass. Let me know if you want me to check anything else.',
    'I will run it as soon as you confirm.',
    'Shall I start?',
    'I will delete the folder, should I?',
    'I will not change the file.',
    'I checked the file and updated it. Everything is in place.',
    "I'll leave it at that.",
    'Let me add that the interface is stable.',
    'To see the files, run this:\n```sh\nls\n```',
    'Let me summarize: the parser was wrong and is fixed.',
    'Let me read the file.\n\nIt holds three lines, and none of them is empty.',
    'The plan: read the file, fix it, run the tests.',
    '"Let me check" is what it says.',
  ])('a valid answer is a signal: %s', (text) => {
    expect(judge(text)).toEqual({ kind: 'signal' });
  });

  it('a run without tools cannot stall', () => {
    expect(judge('Let me check the file.', { turnsWithoutCalls: 1, tools: [] })).toEqual({ kind: 'signal' });
  });

  it('the second correction in a row says that it is the second', () => {
    expect(correctionOf(judge('Let me check.', { ...FIRST, turnsWithoutCalls: 2 }))).toContain('2 answers in a row');
  });
});

describe('judgeQuality: whatever comes', () => {
  it('an empty answer, or one that only thinks, is left to those who judge emptiness', () => {
    expect(judge(' \n ')).toEqual({ kind: 'signal' });
    const thinking: Message = { id: 'm', role: 'assistant', parts: [{ type: 'thinking', text: 'Let me check the file.' }] };
    expect(judgeQuality(thinking, FIRST)).toEqual({ kind: 'signal' });
  });

  it('no text makes it throw, and text in backticks is never markup', () => {
    const piece = fc.constantFrom(
      '<tool_call>',
      '{"name": "read_file"',
      ', "arguments": {}}',
      FENCE,
      '\n',
      '`',
      'Let me',
      ' run ',
      '[TOOL_CALLS]',
      '~~~',
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join('')),
    );
    fc.assert(
      fc.property(text, (given) => {
        expect(['signal', 'noise', 'stall']).toContain(judge(given).kind);
        expect(judge(`It said \`${given.replaceAll(/[`\n\r]/gu, '')}x\` and was done.`).kind).not.toBe('noise');
      }),
    );
  });

  it.each(['[', '{"name"', '<tool_call>', 'ab ', '`', '```\n', '~', '. ', 'now ', '\n', ' ', 'Action: a\n'])(
    '200 KB of %j are judged in far less than what a workflow task may take',
    (piece) => {
      const text = `a${piece.repeat(Math.ceil(200_000 / piece.length))}b`;
      const before = cpuMs();
      judge(text);
      expect(cpuMs() - before).toBeLessThan(WORKFLOW_TASK_MS);
    },
  );
});

function judge(text: string, context: QualityContext = FIRST): AnswerQuality {
  return judgeQuality({ id: 'm', role: 'assistant', parts: [{ type: 'text', text }] }, context);
}

function correctionOf(quality: AnswerQuality): string {
  return quality.kind === 'signal' ? '' : quality.correction;
}
