import { MEMO_LIMITS } from '../../../contracts/constants/limits.js';
import type { Message, ToolCallPart, ToolResultPart } from '../../../contracts/schemas/message.js';
import type { ToolDescriptor } from '../../../contracts/schemas/tool.js';
import { callSignature } from '../loop/call-signature.js';

/** The results of `pure` tools: signature of a call → id of the call whose result is in the transcript. Oldest first. */
export type Memo = ReadonlyMap<string, string>;

/** The id of an earlier equal call; undefined when the call has to run. */
export function recall(memo: Memo, call: ToolCallPart, tool: Pick<ToolDescriptor, 'pure'> | undefined): string | undefined {
  return tool?.pure ? memo.get(callSignature(call)) : undefined;
}

/** A call that was started and has ended. */
export interface EndedCall {
  readonly call: ToolCallPart;
  readonly tool: Pick<ToolDescriptor, 'pure' | 'effect'>;
  readonly isError: boolean;
}

/**
 * Updates the memo in place after a call that was started. A result of a `pure` tool is added; beyond MEMO_LIMITS.entriesMax the oldest
 * entry is dropped. A call with side effects clears the memo, whatever its outcome.
 */
export function remember(memo: Map<string, string>, { call, tool, isError }: EndedCall): void {
  if (tool.effect !== 'read') {
    memo.clear();
    return;
  }
  if (!tool.pure || isError) return;
  const key = callSignature(call);
  memo.delete(key);
  memo.set(key, call.callId);
  const [oldest] = memo.keys();
  if (memo.size > MEMO_LIMITS.entriesMax && oldest !== undefined) memo.delete(oldest);
}

/** A call, and the earlier one that `recall` found for it. */
export interface RememberedCall {
  readonly call: ToolCallPart;
  readonly of: string;
  readonly turn: number;
}

/**
 * The result of a call from the earlier call: the same parts under its own id. Undefined when the transcript no longer contains the earlier
 * result as a success; then the call has to run. Compaction that shortens results in place must clear the memo.
 */
export function answerFromMemo({ call, of, turn }: RememberedCall, messages: readonly Message[]): Message | undefined {
  const earlier = messages.findLast(({ role, parts }) => role === 'tool' && parts.some((part) => isResultOf(part, of)));
  const result = earlier?.parts.find((part) => isResultOf(part, of));
  if (!result || result.isError) return undefined;
  return {
    id: call.callId,
    role: 'tool',
    turn,
    parts: [{ type: 'tool_result', callId: call.callId, isError: false, parts: result.parts }],
  };
}

function isResultOf(part: Message['parts'][number], callId: string): part is ToolResultPart {
  return part.type === 'tool_result' && part.callId === callId;
}
