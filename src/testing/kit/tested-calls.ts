import type { AnyToolDefinition, ToolContext, ToolReturn } from '../../define/define-tool.js';

/** One start of a tool during a tested run. A call that was blocked, denied or had wrong arguments is not started. */
export interface TestedCall {
  readonly tool: string;
  /** The arguments, as the tool got them. */
  readonly args: unknown;
  readonly turn: number;
  readonly callId: string;
  /** The same for every start of the same call. */
  readonly idempotencyKey: string;
  /** The return value. Absent while the tool runs, and if it threw. */
  readonly result?: ToolReturn;
  /** What it threw. */
  readonly error?: unknown;
}

/** Notes each start of the tools that it wraps. */
export class CallRecorder {
  /** In the order of the starts. */
  readonly calls: TestedCall[] = [];

  /** The same tool, with its starts noted. */
  readonly wrap = (tool: AnyToolDefinition): AnyToolDefinition => ({
    ...tool,
    execute: async (args: never, context: ToolContext): Promise<ToolReturn> => {
      const { turn, callId, idempotencyKey } = context;
      const index = this.calls.push({ tool: tool.name, args, turn, callId, idempotencyKey }) - 1;
      try {
        const result = await tool.execute(args, context);
        this.#end(index, { result });
        return result;
      } catch (error) {
        this.#end(index, { error });
        throw error;
      }
    },
  });

  #end(index: number, end: Pick<TestedCall, 'result' | 'error'>): void {
    const call = this.calls[index];
    if (call) this.calls[index] = { ...call, ...end };
  }
}
