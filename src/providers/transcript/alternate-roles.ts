import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionContentPart,
  ChatCompletionMessageParam,
  ChatCompletionUserMessageParam,
} from 'openai/resources/chat/completions';

/** Stands between results and a user's words, where a server wants to hear its model first. */
const READ: ChatCompletionAssistantMessageParam = { role: 'assistant', content: '(read)' };

const CUT_BEFORE: ChatCompletionUserMessageParam = { role: 'user', content: '(what was said before is not shown)' };

/**
 * Messages for servers whose roles must alternate: neighbours of one role are one, a user begins after the prompt, and between results
 * and a user's words the assistant has a word. Calls and their results stay as they are.
 */
export function alternateRoles(messages: readonly ChatCompletionMessageParam[]): ChatCompletionMessageParam[] {
  const sent: ChatCompletionMessageParam[] = [];
  for (const message of messages) {
    const last = sent.at(-1);
    const isFirst = !last || last.role === 'system' || last.role === 'developer';
    if (isFirst && message.role === 'assistant') sent.push(CUT_BEFORE, message);
    else if (last?.role === 'user' && message.role === 'user') sent[sent.length - 1] = joinUserMessages(last, message);
    else if (last?.role === 'assistant' && message.role === 'assistant' && !last.tool_calls)
      sent[sent.length - 1] = joinAnswers(last, message);
    else if (last?.role === 'tool' && message.role === 'user') sent.push(READ, message);
    else sent.push(message);
  }
  return sent;
}

/** Two messages of the user as one. */
export function joinUserMessages(
  first: ChatCompletionUserMessageParam,
  second: ChatCompletionUserMessageParam,
): ChatCompletionUserMessageParam {
  const { content } = first;
  if (typeof content === 'string' && typeof second.content === 'string') return { ...first, content: `${content}\n\n${second.content}` };
  return { ...first, content: [...blocksOf(content), ...blocksOf(second.content)] };
}

/** An answer of ours holds its text as one string. */
function joinAnswers(
  first: ChatCompletionAssistantMessageParam,
  second: ChatCompletionAssistantMessageParam,
): ChatCompletionAssistantMessageParam {
  const texts = [first.content, second.content].filter((content) => typeof content === 'string');
  return { ...second, content: texts.length === 0 ? null : texts.join('\n\n') };
}

function blocksOf(content: ChatCompletionUserMessageParam['content']): ChatCompletionContentPart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}
