import type { Ask, CallSampling } from '../../../../src/activities/mcp/asking-context.js';
import type { McpTools } from '../../../../src/activities/mcp/mcp-tools.js';
import type { ContentPart } from '../../../../src/contracts/schemas/message.js';
import type { ToolContext } from '../../../../src/define/define-tool.js';

/** Calls a tool as an activity does. */
export async function callTool(
  tools: McpTools,
  name: string,
  args: unknown = {},
  { signal = new AbortController().signal, workspace, onHeartbeat, ask, sampling }: CallOptions = {},
): Promise<readonly ContentPart[]> {
  const tool = tools.get(name);
  if (!tool) throw new Error(`no server for ${name}`);
  const context = {
    runId: 'run',
    turn: 1,
    callId: 'call',
    signal,
    heartbeat: onHeartbeat ?? (() => undefined),
    ...(workspace ? { workspace } : {}),
    ...(ask ? { ask } : {}),
    ...(sampling ? { sampling } : {}),
  };
  // tools of servers use no other part of a context
  return (await tool.execute(args as never, context as unknown as ToolContext)) as readonly ContentPart[];
}

/** Options of `callTool`. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly workspace?: string;
  /** Answers the questions of the server. @default it cannot ask */
  readonly ask?: Ask;
  /** Answers its requests for completions. @default it may request none */
  readonly sampling?: CallSampling;
  readonly onHeartbeat?: (details: unknown) => void;
}

/** The text of a result. */
export function textOf(parts: readonly ContentPart[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : `<${part.type}>`)).join('\n');
}

/** A run without a workspace. */
export const RUN = { workspace: undefined, signal: new AbortController().signal };
