import { partsText } from '../transcript/file-parts.js';
import { sentArguments } from '../transcript/parse-arguments.js';
import { breakMarks } from './answer-parser.js';
import { alternating, type ChatTemplate, spacedJson, type ToldTool, templateTurns } from './chat-template.js';

const CALL = '```tool_code';
const RESULT = '```tool_output';
const BLOCK_END = '```';

/** Gemma was trained on no one way to call: it follows the one that its prompt tells. */
const HOW_TO_CALL = `You have access to functions. If you decide to invoke a function, you MUST put it in a block of its own in this format:
${CALL}
{"name": function name, "parameters": dictionary of argument name and its value}
${BLOCK_END}
You SHOULD NOT include any other text after the last block. What the functions gave comes in ${RESULT} blocks. These are the functions:`;

/** Gemma: turns of `user` and `model` that alternate, and no place for a system prompt but the first of them. */
export const GEMMA: ChatTemplate = {
  name: 'gemma',
  toolWords: {
    tools: (tools) => [HOW_TO_CALL, ...tools.map(describe)].join('\n'),
    call: (call) => `${CALL}\n{"name": ${JSON.stringify(call.name)}, "parameters": ${spacedJson(sentArguments(call))}}\n${BLOCK_END}`,
    results: (results) =>
      results.map(({ parts }) => `${RESULT}\n${breakMarks(partsText(parts), /(?<=^[ \t]*)`{3,}/gmu)}\n${BLOCK_END}`).join('\n'),
  },
  markup: {
    marks: [
      { kind: 'call', open: `${CALL}\n`, close: `\n${BLOCK_END}`, ownLine: true },
      { kind: 'call', open: '```tool_call\n', close: `\n${BLOCK_END}`, ownLine: true },
    ],
    bareCalls: true,
    stops: ['<end_of_turn>', '<eos>'],
  },
  render: ({ prompt, messages }) => {
    const rendered = templateTurns(messages);
    const system = prompt.trim() === '' ? [] : [{ role: 'user', text: prompt, thinking: '' } as const];
    const turns = alternating([...system, ...rendered]).map(
      ({ role, text }) => `<start_of_turn>${role === 'user' ? 'user' : 'model'}\n${safe(text).trim()}<end_of_turn>\n`,
    );
    return `${turns.join('')}<start_of_turn>model\n`;
  },
};

function describe({ name, description, schema }: ToldTool): string {
  return spacedJson({ name, description, parameters: schema });
}

function safe(text: string): string {
  return breakMarks(text, /<(?:start_of_turn|end_of_turn|bos|eos)>/gu);
}
