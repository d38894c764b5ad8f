import type { Message, ToolCallPart } from '../../contracts/schemas/message.js';

/** The results that the workflow itself writes: for calls that no activity answered. All are failed results the model reads. */

/** A result with a plain text, for a call that was not run or whose end nobody knows. */
export function failedResult(call: ToolCallPart, turn: number, text: string): Message {
  return {
    id: call.callId,
    role: 'tool',
    turn,
    parts: [{ type: 'tool_result', callId: call.callId, isError: true, parts: [{ type: 'text', text }] }],
  };
}

/** What the model reads of a tool that there is not. No fuzzy execution: it is told what there is. */
export function unknownToolText({ name }: ToolCallPart, available: readonly string[]): string {
  return `no tool named ${JSON.stringify(name.slice(0, 80))}; available: ${available.join(', ') || 'none'}`;
}

/** The worker of a `once` call died. The model is told exactly what is known. */
export function unknownOutcomeResult(call: ToolCallPart, turn: number): Message {
  return failedResult(
    call,
    turn,
    '[outcome unknown] The tool was started but its worker stopped before reporting. It may or may not have taken effect. ' +
      'Check the state before repeating it.',
  );
}

/** A cancel or deadline came before the call was started. */
export function notStartedResult(call: ToolCallPart, turn: number, why: string): Message {
  return failedResult(call, turn, `[${why}] not started`);
}

/** A cancel or deadline came after the call was started and before anybody said how it ended. */
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
