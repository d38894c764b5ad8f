import type { Message, Part, TextPart } from '../../contracts/schemas/message.js';
import { ModelError } from '../contract/model-error.js';
import type { ModelAnswer, ModelProvider, ModelRequest, StreamDelta } from '../contract/provider.js';
import { AnswerParser } from './answer-parser.js';
import type { ChatTemplate, ToolWords } from './chat-template.js';

/** What says of calls what no field of the API can. */
export const CHOICE_WORDS: Readonly<Record<ModelRequest['toolChoice'], string>> = {
  auto: '',
  none: 'Answer in words now, without calling a function.',
  required: 'Call one of the functions now.',
};

/**
 * A provider for models that answer calls as text: it tells the tools in the prompt, past calls and results in the template's words, and
 * reads the calls out of the answer's text. What the server itself takes for thinking or a call stays what it is.
 */
export function withTextTools(provider: ModelProvider, template: ChatTemplate): ModelProvider {
  return {
    call: async (request) => {
      const { tools, toolChoice } = request;
      const onDelta = (delta: StreamDelta): void => {
        if (delta.type !== 'tool_call' || toolChoice !== 'none') request.onDelta(delta);
      };
      const parser = new AnswerParser({ markup: template.markup, tools, onDelta });
      const answer = await provider.call({
        ...speakTools(request, template),
        onDelta: (delta) => (delta.type === 'text' ? parser.add(delta.text) : onDelta(delta)),
      });
      const read = readAnswer(answer, parser);
      return toolChoice === 'none' ? withoutCalls(read) : read;
    },
  };
}

/**
 * A request without tools that tells of them: after the prompt, and in the messages what was called and what came of it. Throws a
 * ModelError `Model.BadRequest` when there are tools and the template has no words for them.
 */
export function speakTools(request: ModelRequest, { name, toolWords }: ChatTemplate): ModelRequest {
  const { prompt, tools, messages } = request;
  if (tools.length > 0 && !toolWords.tools) {
    throw new ModelError('Model.BadRequest', `template ${name} does not support tools. Use another template, or an agent without tools.`);
  }
  const toolsText = tools.length > 0 && toolWords.tools ? toolWords.tools(tools) : '';
  const textMessages = batches(messages).map((batch) => toTextMessage(batch, toolWords));
  const choice = tools.length > 0 ? CHOICE_WORDS[request.toolChoice] : '';
  return {
    ...request,
    prompt: [prompt.trim() === '' ? '' : prompt, toolsText].filter((text) => text !== '').join('\n\n'),
    messages: choice === '' ? textMessages : [...textMessages, { id: 'tool-choice', role: 'user', parts: [textPart(choice)] }],
    tools: [],
    toolChoice: 'auto',
  };
}

/** Results in a row as one message: one answer made the calls, and waits for all of them. */
function batches(messages: readonly Message[]): Message[] {
  const joined: Message[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (last?.role !== 'tool' || message.role !== 'tool') joined.push(message);
    else joined[joined.length - 1] = { ...last, parts: [...last.parts, ...message.parts] };
  }
  return joined;
}

function toTextMessage(message: Message, words: ToolWords): Message {
  if (message.role === 'user') return message;
  const parts = message.role === 'tool' ? resultsAsText(message.parts, words) : answerAsText(message.parts, words);
  return { ...message, role: message.role === 'tool' ? 'user' : 'assistant', parts };
}

function answerAsText(parts: readonly Part[], words: ToolWords): Part[] {
  return parts.map((part) => (part.type === 'tool_call' ? textPart(words.call(part)) : part));
}

/** Pictures of results come after all of them, as the user's own would: a text only names them. */
function resultsAsText(parts: readonly Part[], words: ToolWords): Part[] {
  const results = parts.filter((part) => part.type === 'tool_result');
  const files = results.flatMap((result) => result.parts.filter((part) => part.type === 'file' && part.mime.startsWith('image/')));
  return [textPart(words.results(results)), ...files];
}

function textPart(text: string): TextPart {
  return { type: 'text', text };
}

function readAnswer(answer: ModelAnswer, parser: AnswerParser): ModelAnswer {
  const read = parser.end({ cut: answer.stop === 'length' });
  const parts = [
    ...answer.parts.filter((part) => part.type === 'thinking'),
    ...read,
    ...answer.parts.filter((part) => part.type !== 'thinking' && part.type !== 'text'),
  ];
  const calls = answer.stop === 'end' && parts.some((part) => part.type === 'tool_call');
  return { ...answer, parts, stop: calls ? 'tool_calls' : answer.stop };
}

/** A call that was forbidden all the same is none: the API's own word for it holds, and so does this. */
function withoutCalls(answer: ModelAnswer): ModelAnswer {
  const parts = answer.parts.filter((part) => part.type !== 'tool_call');
  return { ...answer, parts, stop: answer.stop === 'tool_calls' ? 'end' : answer.stop };
}
