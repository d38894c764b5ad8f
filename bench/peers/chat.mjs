import OpenAI from 'openai';

const TOOLS = [
  {
    type: 'function',
    function: {
      name: 'echo',
      description: 'Answers with one KiB.',
      parameters: { type: 'object', properties: { turn: { type: 'string' } } },
    },
  },
];
const KIB = 'r'.repeat(1_024);

/** The official client, streaming: what every peer below asks the model with. */
export function createChat({ baseUrl, apiKey }) {
  const client = new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 });
  return async (messages) => {
    const stream = await client.chat.completions.create({ model: 'bench', stream: true, messages, tools: TOOLS });
    const answer = { role: 'assistant', content: '', tool_calls: [] };
    for await (const { choices } of stream) {
      const delta = choices[0]?.delta ?? {};
      answer.content += delta.content ?? '';
      for (const { index, id, function: part } of delta.tool_calls ?? []) {
        const call = (answer.tool_calls[index] ??= { id, type: 'function', function: { name: part.name, arguments: '' } });
        call.function.arguments += part.arguments ?? '';
      }
    }
    if (answer.tool_calls.length === 0) delete answer.tool_calls;
    return answer;
  };
}

/** The one tool, answering with one KiB. */
export function echo(call) {
  return { role: 'tool', tool_call_id: call.id, content: KIB };
}

/** The first message of a conversation of so many turns. */
export function task(turns, peer, tool) {
  return { role: 'user', content: JSON.stringify({ turns, peer, tool }) };
}
