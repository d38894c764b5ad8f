import { z } from 'zod';
import { HOOK_LIMITS } from '../contracts/constants/limits.js';
import type { JsonValue, Message } from '../contracts/schemas/message.js';
import type { ToolDescriptor } from '../contracts/schemas/tool.js';

/** Where a hook is asked. The two around the model run at each attempt; `after-model` and `after-run` only when there is an answer. */
export const HookPoint = z.enum(['before-run', 'before-model', 'after-model', 'before-tool', 'after-tool', 'after-run', 'error']);
export type HookPoint = z.infer<typeof HookPoint>;

/** A request to a model, as `before-model` hooks see it. */
export interface HookRequest {
  readonly prompt: string;
  readonly messages: readonly Message[];
  readonly tools: readonly Pick<ToolDescriptor, 'name' | 'description' | 'schema'>[];
}

/** What a hook is asked about: a copy, so that changing it in place changes nothing. */
export interface HookContext {
  readonly runId: string;
  readonly agent: string;
  readonly turn: number;
  /** Around tools: the tool's name, also of one that there is not. */
  readonly tool?: string;
  /** Around tools: the arguments, as hooks before this one left them. */
  readonly args?: JsonValue;
  /** after-model, after-run: the answer's text; after-tool: the result's text. */
  readonly output?: string;
  /** after-tool: the call failed, and `output` says how. */
  readonly isError?: boolean;
  /** error: what ended the run, as it was thrown. */
  readonly error?: { readonly type: string; readonly message: string };
  readonly request?: HookRequest;
  /** Absolute path of the run's workspace, when it has one. */
  readonly workspace?: string;
  /** Aborted when the hook's time is over, and when the call it belongs to is stopped. */
  readonly signal: AbortSignal;
}

/**
 * What a hook decides. `modify` may change the arguments of `before-tool`, the request of `before-model`, and the output of the `after-`
 * points and of `error` (there the message that the caller reads). `block` refuses this one thing; `abort` ends the run.
 */
export type HookDecision =
  | { readonly action: 'allow' }
  | { readonly action: 'block' | 'abort'; readonly reason: string }
  | {
      readonly action: 'modify';
      readonly args?: JsonValue;
      readonly output?: string;
      readonly request?: Partial<HookRequest>;
    };

/**
 * A hook's own function.
 *
 * Contract: it may throw or exceed its time, and what it was asked about is then blocked (`onError`); it may be asked again about the same
 * thing when a worker is lost; hooks of one call run one after the other, those of calls that run in parallel run in parallel.
 */
export type HookFunction = (context: HookContext) => Promise<HookDecision> | HookDecision;

/** A hook of the config. */
export const HookDefinition = z.strictObject({
  name: z.string().min(1).max(HOOK_LIMITS.nameCharsMax),
  on: HookPoint,
  /** Around tools: names, or globs of names such as `git_*`; absent or empty: every tool. */
  tools: z.array(z.string().min(1)).optional(),
  /** Around tools: globs that the call's `path` or `file_path` must match, relative to the workspace; absent or empty: every call. */
  paths: z.array(z.string().min(1)).optional(),
  /** A lower number runs first, equal numbers in the order of the config. @default 100 */
  priority: z.number().int().optional(),
  /** @default 10 s */
  timeoutMs: z.number().int().min(HOOK_LIMITS.timeoutMsMin).max(HOOK_LIMITS.timeoutMsMax).optional(),
  /** What a hook that throws, or exceeds its time, stands for. @default block */
  onError: z.enum(['block', 'allow']).optional(),
  run: z.custom<HookFunction>((value) => typeof value === 'function', 'a function of the context'),
});
export type HookDefinition = z.infer<typeof HookDefinition>;

/** Types a hook's definition. It is checked with the whole config, so that all problems are told at once. */
export function defineHook(hook: HookDefinition): HookDefinition {
  return hook;
}
