import { z } from 'zod';
import type { JsonValue } from '../contracts/schemas/message.js';
import { GateProfile, GateRule } from '../contracts/schemas/policy.js';
import type { ToolDescriptor } from '../contracts/schemas/tool.js';

/** Argument of a gate function: one tool call. */
export interface GateContext {
  /** Id of the run. */
  readonly runId: string;
  /** Name of the agent. */
  readonly agent: string;
  /** Turn of the call, from 1. */
  readonly turn: number;
  /** Arguments of the call. */
  readonly args: JsonValue;
  /** Absolute path of the run's workspace. Absent without a workspace. */
  readonly workspace?: string;
  /** Aborted after the time limit of 10 s. */
  readonly signal: AbortSignal;
}

/** Decision of a gate function: run the call, block it, or wait for approval. */
export type GateAnswer =
  | { readonly action: 'allow' }
  | { readonly action: 'block'; readonly reason: string }
  | { readonly action: 'ask'; readonly reason?: string };

/**
 * A gate function of the config.
 *
 * Contract: an activity calls it before each tool call. It fails closed: a gate that throws or exceeds its time limit blocks the call. It
 * may be called again for the same call, and for several calls in parallel.
 */
export type GateFunction = (
  context: GateContext,
  tool: Pick<ToolDescriptor, 'name' | 'effect' | 'network'>,
) => Promise<GateAnswer> | GateAnswer;

/** The `gate` of an agent: a profile, rules with a profile, or a function. */
export const AgentGate = z.union([
  GateProfile,
  z.strictObject({ profile: GateProfile.optional(), rules: z.array(GateRule).optional() }),
  z.custom<GateFunction>((value) => typeof value === 'function', 'a function of the context and the tool'),
]);
export type AgentGate = z.infer<typeof AgentGate>;

const COMMANDS = (
  'rm -r, rm -R, rm -f, rm -rf, rm -fr, rm -Rf, rm --recursive, rm --force, shred, wipefs, mkfs, dd, git reset --hard, git clean, ' +
  'git push --force, git push -f, chmod -R, chown -R, shutdown, reboot, halt, poweroff'
).split(', ');

/**
 * Gate rules that block common destructive shell commands: `gate: { rules: [...DESTRUCTIVE_COMMANDS] }`. They prevent accidents of a
 * careless model. They are not a sandbox.
 */
export const DESTRUCTIVE_COMMANDS: readonly GateRule[] = COMMANDS.flatMap((command) =>
  ['run_command', 'start_command'].map((tool) => ({ tool, command, decision: 'block', reason: `${command} cannot be undone` }) as const),
);
