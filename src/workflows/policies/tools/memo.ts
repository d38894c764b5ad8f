import { MEMO_LIMITS } from '../../../contracts/constants/limits.js';
import type { Message, ToolCallPart, ToolResultPart } from '../../../contracts/schemas/message.js';
import type { ToolDescriptor } from '../../../contracts/schemas/tool.js';
import { callSignature } from '../loop/call-signature.js';

/** What `pure` tools answered: signature of a call → id of the call whose result stands in the transcript. Oldest first. */
export type Memo = ReadonlyMap<string, string>;

/** The id of an earlier call that already answered this one; undefined when it has to run. */
export function recall(memo: Memo, call: ToolCallPart, tool: Pick<ToolDescriptor, 'pure'> | undefined): string | undefined {
  return tool?.pure ? memo.get(callSignature(call)) : undefined;
}

/** A call that was started and has ended, as the memo sees it. */
export interface EndedCall {
  readonly call: ToolCallPart;
  readonly tool: Pick<ToolDescriptor, 'pure' | 'effect'>;
  readonly isError: boolean;
}

/**
 * Notes a call that was started, in place: what a `pure` tool answered is remembered, the oldest of MEMO_LIMITS.entriesMax forgotten
 * for it, and a call that may have changed the world, however it ended, forgets all. A call that was never started is not to be noted.
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
 * The result of a call, made from that of the earlier call: the same parts under its own id. Undefined when the earlier result no
 * longer stands in the transcript as that call's success; then the call has to run. Compaction that shortens results in place must
 * clear the memo.
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
