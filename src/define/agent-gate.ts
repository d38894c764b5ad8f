import { z } from 'zod';
import type { JsonValue } from '../contracts/schemas/message.js';
import { GateProfile, GateRule } from '../contracts/schemas/policy.js';
import type { ToolDescriptor } from '../contracts/schemas/tool.js';

/** The call that a gate function is asked about. */
export interface GateContext {
  readonly runId: string;
  readonly agent: string;
  readonly turn: number;
  readonly args: JsonValue;
  /** Absolute path of the run's workspace, when it has one. */
  readonly workspace?: string;
  /** Aborted when the gate's time (10 s) is over. */
  readonly signal: AbortSignal;
}

/** What a gate function says: run it, refuse it, or let a person decide. */
export type GateAnswer =
  | { readonly action: 'allow' }
  | { readonly action: 'block'; readonly reason: string }
  | { readonly action: 'ask'; readonly reason?: string };

/**
 * A gate of the config's own.
 *
 * Contract: asked before each call, by an activity; a gate that throws, or exceeds its time, blocks the call. It may be asked again
 * about the same call, and about several calls at once.
 */
export type GateFunction = (
  context: GateContext,
  tool: Pick<ToolDescriptor, 'name' | 'effect' | 'network'>,
) => Promise<GateAnswer> | GateAnswer;

/** The `gate` of an agent: a profile, a profile with rules before it, or a function. */
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
 * Rules that block the shell commands which most often destroy work, for an agent's gate: `gate: { rules: [...DESTRUCTIVE_COMMANDS] }`.
 * They keep a careless model from an accident, no more: a list of commands is no sandbox.
 */
export const DESTRUCTIVE_COMMANDS: readonly GateRule[] = COMMANDS.map((command) => ({
  tool: 'run_command',
  command,
  decision: 'block',
  reason: `${command} destroys what cannot be brought back`,
}));
