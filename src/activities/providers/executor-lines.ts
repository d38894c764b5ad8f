import type { Message, ToolCallPart } from '../../contracts/message.js';
import { textOf } from '../../contracts/text-of.js';
import { type CallResultLine, type ChildCall, EXECUTOR_PROTOCOL_VERSION, type ParentLine } from './executor-protocol.js';
import { partsText } from './parts-text.js';
import type { ModelRequest } from './provider.js';

/** What is said to a child that has to come to its end, where the run itself says nothing. */
const FINISH = 'The run ends now. Give the final answer.';

/** The first lines to a child that begins: from a task, or from all that was said so far. */
export function linesToBegin(request: ModelRequest): ParentLine[] {
  const { finish, messages } = splitFinish(request);
  const { runId = '', prompt, tools } = request;
  const users = messages.filter(({ role }) => role === 'user');
  const task = lastAnswerIn(messages) === -1 ? users : users.slice(0, 1);
  return [{ type: 'start', v: EXECUTOR_PROTOCOL_VERSION, runId, prompt, task: task.map(textIn).join('\n\n'), messages, tools }, ...finish];
}

/** The next lines to a child that gave the last answer: the results of its calls, then what users and the run said since. */
export function linesToGoOn(request: ModelRequest, calls: readonly ChildCall[]): ParentLine[] {
  const { finish, messages } = splitFinish(request);
  const at = lastAnswerIn(messages);
  const since = messages.slice(at + 1);
  const said = since.filter(({ role }) => role === 'user').map((message): ParentLine => ({ type: 'message', text: textIn(message) }));
  // a child that nothing is said to would wait for ever
  if (calls.length === 0) return since.length === 0 && finish.length === 0 ? [{ type: 'message', text: 'Go on.' }] : [...said, ...finish];
  const results = since.flatMap(({ parts }) => parts).filter((part) => part.type === 'tool_result');
  const ours = callsIn(messages[at]);
  const lines = calls.map((call, index): CallResultLine => {
    const result = results.find(({ callId }) => callId === ours[index]?.callId);
    return { ...nameOf(call, index), ...(result ? { isError: result.isError, text: partsText(result.parts) } : NOT_RUN) };
  });
  return [{ type: 'tool_results', results: lines }, ...said, ...finish];
}

/** The answer to calls that come after the run asked for the end. */
export function refusals(calls: readonly ChildCall[]): ParentLine {
  const results = calls.map((call, index) => ({ ...nameOf(call, index), isError: true, text: `not run: ${FINISH}` }));
  return { type: 'tool_results', results };
}

/** Where the newest answer of the agent stands; -1 when it has given none. */
export function lastAnswerIn(messages: readonly Message[]): number {
  return messages.findLastIndex(({ role }) => role === 'assistant');
}

/** The calls of a message, in order. */
export function callsIn(message: Message | undefined): ToolCallPart[] {
  return message?.parts.filter((part) => part.type === 'tool_call') ?? [];
}

const NOT_RUN = { isError: true, text: 'not run' } as const;

function nameOf(call: ChildCall, index: number): Pick<CallResultLine, 'callId'> {
  return { callId: call.id ?? String(index) };
}

/** What the run says last when it wants the final answer is said with the word that asks for it. */
function splitFinish({ messages, toolChoice }: ModelRequest): { readonly messages: readonly Message[]; readonly finish: ParentLine[] } {
  if (toolChoice !== 'none') return { messages, finish: [] };
  const last = messages.at(-1);
  const isSaid = last?.role === 'user' && messages.length > 1;
  return {
    messages: isSaid ? messages.slice(0, -1) : messages,
    finish: [{ type: 'finish', text: isSaid ? textIn(last) : FINISH }],
  };
}

/** A message's text; files in it are named. */
function textIn(message: Message): string {
  return message.parts.every(({ type }) => type === 'text') ? textOf(message) : partsText(message.parts);
}
