import type { GateRule } from '../contracts/schemas/policy.js';

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
