import { toolCallsOf } from '../../../../src/contracts/message-text.js';
import { WorkRecord } from '../../../../src/contracts/schemas/carried-state.js';
import type { JsonValue, Message, Part, ToolCallPart } from '../../../../src/contracts/schemas/message.js';
import type { CompletionPolicy } from '../../../../src/contracts/schemas/policy.js';
import type { Effect } from '../../../../src/contracts/schemas/tool.js';
import { recordWork } from '../../../../src/workflows/policies/answer/work-record.js';

/** One call of a turn and how it ended. */
export interface Called {
  readonly name: string;
  readonly args?: JsonValue;
  readonly failed?: boolean;
}

/** What the tools of these tests do to the world. */
export const EFFECTS: Readonly<Record<string, Effect>> = {
  read_file: 'read',
  search_files: 'read',
  write_file: 'idempotent',
  edit_file: 'once',
  run_command: 'once',
  update_plan: 'idempotent',
  send_mail: 'once',
};

function effectOf(tool: string): Effect | undefined {
  return EFFECTS[tool];
}

/** A task, as a person writes it. */
export function task(text: string): Message {
  return { id: 'task', role: 'user', parts: [{ type: 'text', text }] };
}

/** An answer without calls. */
export function answer(text: string): Message {
  return { id: 'answer', role: 'assistant', parts: [{ type: 'text', text }] };
}

/** A transcript in which each turn has its calls and their results. */
export function turns(...given: readonly (readonly Called[])[]): Message[] {
  return given.flatMap((called, turn) => {
    const calls = called.map(({ name, args = {} }, index): ToolCallPart => ({ type: 'tool_call', callId: `${turn}-${index}`, name, args }));
    return [
      { id: `turn-${turn}`, role: 'assistant' as const, parts: calls },
      ...called.map(({ failed = false }, index) => result(`${turn}-${index}`, failed)),
    ];
  });
}

/** What is recorded of the turns of a transcript, one after the other. */
export function workOf(policy: CompletionPolicy, messages: readonly Message[], before = WorkRecord.parse({})): WorkRecord {
  return messages.reduce((work, message, index) => {
    const calls = toolCallsOf(message);
    const results = messages.slice(index + 1, index + 1 + calls.length);
    return calls.length === 0 ? work : recordWork(work, { calls, results }, { policy, effectOf });
  }, before);
}

function result(callId: string, isError: boolean): Message {
  const parts: Part[] = [{ type: 'tool_result', callId, isError, parts: [{ type: 'text', text: isError ? 'failed' : 'ok' }] }];
  return { id: callId, role: 'tool', parts };
}
