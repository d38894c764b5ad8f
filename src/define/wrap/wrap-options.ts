import type { ToolDefinition } from '../define-tool.js';
import type { JsonArguments } from '../tool/json-arguments.js';

/** Options of a wrapped tool that its framework does not have. @default effect `once`, timeoutMs 45 s, pure false */
export type WrapOptions = Partial<
  Pick<ToolDefinition<JsonArguments>, 'effect' | 'timeoutMs' | 'pure' | 'network' | 'approval' | 'reconcile'>
> & {
  /** Description, as the model sees it. @default the tool's own */
  readonly description?: string;
};
