import { z } from 'zod';
import { HOOK_LIMITS } from '../contracts/constants/limits.js';
import type { JsonValue, Message } from '../contracts/schemas/message.js';
import type { ToolDescriptor } from '../contracts/schemas/tool.js';

/** When a hook runs. Hooks around the model run at each attempt; `after-model` and `after-run` only when there is an answer. */
export const HookPoint = z.enum(['before-run', 'before-model', 'after-model', 'before-tool', 'after-tool', 'after-run', 'error']);
export type HookPoint = z.infer<typeof HookPoint>;

/** A model request, as `before-model` hooks see it. */
export interface HookRequest {
  /** System prompt. */
  readonly prompt: string;
  /** The messages of the request. */
  readonly messages: readonly Message[];
  /** The tools that the model is offered. */
  readonly tools: readonly Pick<ToolDescriptor, 'name' | 'description' | 'schema'>[];
}

/** Argument of a hook: a copy, so changing it has no effect. */
export interface HookContext {
  /** Id of the run. */
  readonly runId: string;
  /** Name of the agent. */
  readonly agent: string;
  /** Current turn, from 1. */
  readonly turn: number;
  /** Tool hooks: name of the tool, also of a tool that does not exist. */
  readonly tool?: string;
  /** Tool hooks: the arguments, as earlier hooks changed them. */
  readonly args?: JsonValue;
  /** after-model, after-run: text of the answer. after-tool: text of the result. */
  readonly output?: string;
  /** after-tool: the call failed, and `output` is the error. */
  readonly isError?: boolean;
  /** error: the failure that ended the run. */
  readonly error?: { readonly type: string; readonly message: string };
  /** before-model: the request. */
  readonly request?: HookRequest;
  /** Absolute path of the run's workspace. Absent without a workspace. */
  readonly workspace?: string;
  /** Aborted after the hook's time limit, and when its call is stopped. */
  readonly signal: AbortSignal;
}

/**
 * Decision of a hook. `modify` may change the arguments (`before-tool`), the request (`before-model`), or the output (`after-` points and
 * `error`, there the error message). `block` refuses this one action. `abort` ends the run.
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
 * The function of a hook.
 *
 * Contract: a hook that throws or exceeds its time limit blocks the action, unless `onError` is `allow`. It may run again for the same
 * action when a worker is lost. Hooks of one call run in sequence; hooks of parallel calls run in parallel.
 */
export type HookFunction = (context: HookContext) => Promise<HookDecision> | HookDecision;

/** A hook of the config. */
export const HookDefinition = z.strictObject({
  /** Name, as results and operators see it. */
  name: z.string().min(1).max(HOOK_LIMITS.nameCharsMax),
  /** When the hook runs. */
  on: HookPoint,
  /** Tool hooks: names, or globs of names such as `git_*`. @default every tool */
  tools: z.array(z.string().min(1)).optional(),
  /** Tool hooks: globs that the call's `path` or `file_path` must match, relative to the workspace. @default every call */
  paths: z.array(z.string().min(1)).optional(),
  /** Order: a lower number runs first, equal numbers in the order of the config. @default 100 */
  priority: z.number().int().optional(),
  /** Time limit in milliseconds. @default 10 s */
  timeoutMs: z.number().int().min(HOOK_LIMITS.timeoutMsMin).max(HOOK_LIMITS.timeoutMsMax).optional(),
  /** Decision of a hook that throws or exceeds its time limit. @default block */
  onError: z.enum(['block', 'allow']).optional(),
  /** The function: `(context) => decision`. */
  run: z.custom<HookFunction>((value) => typeof value === 'function', 'a function of the context'),
});
export type HookDefinition = z.infer<typeof HookDefinition>;

/** Returns its argument, typed. The definition is validated with the whole config, so that all problems are reported at once. */
export function defineHook(hook: HookDefinition): HookDefinition {
  return hook;
}
