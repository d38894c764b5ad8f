import { EVENT_STREAM, type FormatServer } from '../../../format/format-server.js';
import { conversationName } from '../../../scripted/script-player.js';
import { CHOICE_WORDS } from '../../../templates/text-tools.js';
import { openAiError, openAiErrorBody, openAiKeyIn, refuseOpenAiKey } from '../../server/error.js';
import { type CompletionsWireRequest, completionsDocument, completionsEvents } from './answer.js';
import { readPrompt, resultsIn } from './prompt.js';
import { type CompletionsRequest, parseCompletionsRequest } from './request.js';

/** OpenAI's older completions, over a model that knows only prompts as one of our templates writes them. */
export const OPENAI_COMPLETIONS_SERVER: FormatServer<CompletionsWireRequest> = {
  name: 'openai-completions',
  path: '/v1/completions',
  contentType: EVENT_STREAM,
  requestIdHeader: 'x-request-id',
  ping: ': ping\n\n',
  overflowMessage: "This model's maximum context length is 4097 tokens, however you requested 5000 tokens.",
  terminal: '"finish_reason":"stop"',
  keyIn: openAiKeyIn,
  refuseKey: refuseOpenAiKey,
  check: (body) => toWireRequest(parseCompletionsRequest(body)),
  errorBody: openAiErrorBody,
  errorEvent: ({ type, message }) => `data: ${JSON.stringify({ error: openAiError(message, type) })}\n\n`,
  events: completionsEvents,
  document: completionsDocument,
};

function toWireRequest({ prompt, model, stream, stream_options }: CompletionsRequest): CompletionsWireRequest {
  const { template, turns, tools } = readPrompt(prompt);
  const conversation = turns.filter(({ role }) => role !== 'system');
  const results = conversation.flatMap((turn) => resultsIn(turn, template));
  const questions = conversation.filter((turn) => turn.role === 'user' && resultsIn(turn, template).length === 0);
  const system = turns.flatMap(({ role, text }) => (role === 'system' ? [text] : []));
  return {
    view: {
      conversation: conversationName(system.join('\n'), conversation[0]),
      answered: conversation.filter(({ role }) => role === 'assistant').length,
      lastUser: questions.at(-1)?.text ?? '',
      lastToolResult: results.at(-1) ?? '',
      tools,
      // no field forbids calls: the prompt's last words do
      final: conversation.at(-1)?.text.endsWith(CHOICE_WORDS.none) ?? false,
      inputChars: () => prompt.length,
    },
    model,
    stream: stream ?? false,
    streamUsage: stream_options?.include_usage ?? false,
    template,
  };
}
