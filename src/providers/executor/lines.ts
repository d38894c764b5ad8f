import { textOf } from '../../contracts/message-text.js';
import type { Message, ToolCallPart } from '../../contracts/schemas/message.js';
import type { ModelRequest } from '../contract/provider.js';
import { partsText } from '../transcript/file-parts.js';
import { type CallResultLine, type ChildCall, EXECUTOR_PROTOCOL_VERSION, type ParentLine } from './protocol.js';

/** What is said to a child that has to come to its end, where the run itself says nothing. */
const FINISH = 'The run ends now. Give the final answer.';

/** What is said to a child whose answer was not enough, where nobody said why. */
const GO_ON = 'Go on.';

/** The first line to a child that begins: from a task, or from all that was said so far. */
export function lineToBegin(request: ModelRequest): ParentLine {
  const { finish, messages } = splitFinish(request);
  const { runId = '', prompt } = request;
  const tools = request.tools.map(({ name, description, schema }) => ({ name, description, schema }));
  const users = messages.filter(({ role }) => role === 'user');
  const task = lastAnswerIn(messages) === -1 ? users : users.slice(0, 1);
  const isLast = finish === undefined ? {} : { finish };
  return { type: 'start', v: EXECUTOR_PROTOCOL_VERSION, runId, prompt, task: joined(task), messages, tools, ...isLast };
}

/**
 * The next lines to a child that gave the last answer. The last one is what it waits for: the results of its calls, else what users and
 * the run said since. One line only may be answered: a child that got two would answer twice.
 */
export function linesToGoOn(request: ModelRequest, calls: readonly ChildCall[]): ParentLine[] {
  const { finish, messages } = splitFinish(request);
  const at = lastAnswerIn(messages);
  const since = messages.slice(at + 1);
  const userMessages = since.filter(({ role }) => role === 'user');
  if (calls.length > 0) {
    const notices = userMessages.map((message): ParentLine => ({ type: 'message', text: textIn(message) }));
    return [
      ...notices,
      ...(finish === undefined ? [] : [{ type: 'finish', text: finish } as const]),
      resultsOf(calls, messages[at], since),
    ];
  }
  const text = joined(userMessages);
  if (finish !== undefined) return [{ type: 'finish', text: text === '' ? finish : `${text}\n\n${finish}` }];
  return [{ type: 'message', text: text === '' ? GO_ON : text }];
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

function resultsOf(calls: readonly ChildCall[], asked: Message | undefined, since: readonly Message[]): ParentLine {
  const results = since.flatMap(({ parts }) => parts).filter((part) => part.type === 'tool_result');
  const ours = callsIn(asked);
  const lines = calls.map((call, index): CallResultLine => {
    const result = results.find(({ callId }) => callId === ours[index]?.callId);
    return { ...nameOf(call, index), ...(result ? { isError: result.isError, text: partsText(result.parts) } : NOT_RUN) };
  });
  return { type: 'tool_results', results: lines };
}

/** When the run wants the final answer, what it says last is said with the word that asks for it. */
function splitFinish({ messages, toolChoice }: ModelRequest): { readonly messages: readonly Message[]; readonly finish?: string } {
  if (toolChoice !== 'none') return { messages };
  const last = messages.at(-1);
  if (last?.role !== 'user' || messages.length === 1) return { messages, finish: FINISH };
  return { messages: messages.slice(0, -1), finish: textIn(last) };
}

function joined(messages: readonly Message[]): string {
  return messages.map(textIn).join('\n\n');
}

/** A message's text; files in it are named. */
function textIn(message: Message): string {
  return message.parts.every(({ type }) => type === 'text') ? textOf(message) : partsText(message.parts);
}
