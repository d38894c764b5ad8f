import type { Message, ToolCallPart, ToolResultPart } from '../../contracts/schemas/message.js';

/** A tool call that has its result. */
export interface AnsweredCall {
  readonly call: ToolCallPart;
  /** The result is no failure. A call that was refused or stopped has failed. */
  readonly ok: boolean;
}

/** The calls of one answer that have a result among these messages, in the order in which they were made. */
export function answeredCalls(calls: readonly ToolCallPart[], messages: readonly Message[]): AnsweredCall[] {
  const results = new Map<string, ToolResultPart>();
  for (const { parts } of messages) {
    for (const part of parts) if (part.type === 'tool_result') results.set(part.callId, part);
  }
  return calls.flatMap((call) => {
    const result = results.get(call.callId);
    return result ? [{ call, ok: !result.isError }] : [];
  });
}

/** A text argument of a call under the first of these names that has one; undefined when none has. */
export function textArgument({ args }: ToolCallPart, ...names: readonly string[]): string | undefined {
  if (args === null || typeof args !== 'object' || Array.isArray(args)) return undefined;
  return names.map((name) => (Object.hasOwn(args, name) ? args[name] : undefined)).find((value) => typeof value === 'string');
}

/** The file a call works on, as tools name it; undefined for a call that names none. */
export function fileOf(call: ToolCallPart): string | undefined {
  return textArgument(call, 'path', 'file_path', 'filePath');
}
