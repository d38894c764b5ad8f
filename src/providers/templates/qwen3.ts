import { partsText } from '../transcript/file-parts.js';
import { sentArguments } from '../transcript/parse-arguments.js';
import { breakMarks } from './answer-parser.js';
import { type ChatTemplate, type SpokenTranscript, spacedJson, type TemplateTurn, templateTurns } from './chat-template.js';

const RESULT = '<tool_response>';
const RESULT_END = '</tool_response>';

/** The words that the model was trained on stand as they are in its own template. */
const TOOLS_BEFORE = `# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>`;
const TOOLS_AFTER = `</tools>

For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call>`;

/** Qwen 3 and the models tuned from it: ChatML with tools in the system turn. */
export const QWEN3: ChatTemplate = {
  name: 'qwen3',
  toolWords: {
    tools: (tools) => {
      const toolLines = tools.map(({ name, description, schema }) =>
        spacedJson({ type: 'function', function: { name, description, parameters: schema } }),
      );
      return [TOOLS_BEFORE, ...toolLines, TOOLS_AFTER].join('\n');
    },
    call: (call) => `<tool_call>\n{"name": ${JSON.stringify(call.name)}, "arguments": ${spacedJson(sentArguments(call))}}\n</tool_call>`,
    results: (results) =>
      results.map(({ parts }) => `${RESULT}\n${breakMarks(partsText(parts), /<\/?tool_response>/gu)}\n${RESULT_END}`).join('\n'),
  },
  markup: {
    marks: [
      { kind: 'thinking', open: '<think>', close: '</think>' },
      { kind: 'call', open: '<tool_call>', close: '</tool_call>' },
    ],
    stops: ['<|im_end|>', '<|endoftext|>'],
  },
  render: ({ prompt, messages }, { thinking }) => {
    const system = prompt.trim() === '' ? [] : [turn('system', safe(prompt))];
    // a model that is not to think is given the end of its thinking
    const begun = thinking?.style === 'off' ? '<think>\n\n</think>\n\n' : '';
    return `${[...system, ...turnsOf(messages)].join('')}<|im_start|>assistant\n${begun}`;
  },
};

/** Thinking is told only of the answers to the last question: what was thought about earlier ones is no longer wanted. */
function turnsOf(messages: SpokenTranscript['messages']): string[] {
  const turns = templateTurns(messages);
  const lastQuestion = turns.findLastIndex(isQuestion);
  return turns.map(({ role, text, thinking }, index) => {
    const isTold = index > lastQuestion && thinking !== '';
    return turn(role, isTold ? `<think>\n${safe(thinking)}\n</think>\n\n${safe(text)}` : safe(text));
  });
}

function isQuestion({ role, text }: TemplateTurn): boolean {
  return role === 'user' && !text.startsWith(RESULT);
}

function turn(role: string, text: string): string {
  return `<|im_start|>${role}\n${text}<|im_end|>\n`;
}

function safe(text: string): string {
  return breakMarks(text, /<\|(?:im_start|im_end|endoftext)\|>/gu);
}
