import type { Message, ToolCallPart } from '../../contracts/schemas/message.js';
import type { LossKind } from '../temporal/failures.js';

/** The results that the workflow itself makes, for calls that no activity answered. */

/** A failed result with a plain text, for a call that was not run or whose outcome is unknown. */
export function failedResult(call: ToolCallPart, turn: number, text: string): Message {
  return {
    id: call.callId,
    role: 'tool',
    turn,
    parts: [{ type: 'tool_result', callId: call.callId, isError: true, parts: [{ type: 'text', text }] }],
  };
}

/** A result with a plain text, for a call that the workflow itself answered. */
export function textResult(call: ToolCallPart, turn: number, text: string): Message {
  return {
    id: call.callId,
    role: 'tool',
    turn,
    parts: [{ type: 'tool_result', callId: call.callId, isError: false, parts: [{ type: 'text', text }] }],
  };
}

/** The result text of an unknown tool. It lists the available tools; a similar name is never run instead. */
export function unknownToolText({ name }: ToolCallPart, available: readonly string[]): string {
  return `no tool named ${JSON.stringify(name.slice(0, 80))}; available: ${available.join(', ') || 'none'}`;
}

/** The result of a `once` call whose worker was lost. `loss`: how, as far as it is known. @default as older versions wrote it */
export function unknownOutcomeResult(call: ToolCallPart, turn: number, loss: LossKind = 'died'): Message {
  const text = `[outcome unknown] ${KNOWN[loss]} It may or may not have taken effect. Check the state before repeating it.`;
  return failedResult(call, turn, text);
}

const KNOWN: Readonly<Record<LossKind, string>> = {
  died: 'The tool was started but its worker stopped before reporting.',
  'shut down': 'The tool was stopped while running, because its worker shut down.',
  'lost contact': 'The tool was stopped while running, because its worker lost contact with the server.',
  unreachable: 'The worker that ran the tool could not be reached. The tool may still be running.',
  stopped: 'The tool was started, and its attempt was ended from outside before it reported.',
};

/** A cancel or deadline came before the call was started. */
export function notStartedResult(call: ToolCallPart, turn: number, why: string): Message {
  return failedResult(call, turn, `[${why}] not started`);
}

/** A cancel or deadline came after the call was started and before it reported its outcome. */
export function stoppedResult(call: ToolCallPart, turn: number, why: string): Message {
  return failedResult(call, turn, `[${why}] stopped while running; it may have taken partial effect`);
}

/** The answer was cut in the middle of a call: none of its calls ran. */
export function truncatedCallResults(calls: readonly ToolCallPart[], turn: number): Message[] {
  return calls.map((call) =>
    failedResult(
      call,
      turn,
      'not run: the answer was cut by the output limit, so the call may be incomplete. Send it again, shorter or in smaller steps.',
    ),
  );
}

/** None of these calls ran, and why. */
export function notRunResults(calls: readonly ToolCallPart[], turn: number, why: string): Message[] {
  return calls.map((call) => failedResult(call, turn, why));
}
