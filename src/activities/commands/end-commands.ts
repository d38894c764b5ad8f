import type { AgentActivities } from '../../contracts/activities.js';
import { COMMANDS_LEVEL } from '../../contracts/capability-level.js';
import type { RunChain } from '../../contracts/schemas/ledger.js';
import type { PreparedRun } from '../../contracts/schemas/prepared-run.js';
import type { ToolDescriptor } from '../../contracts/schemas/tool.js';
import { START_COMMAND } from '../../tools/commands/start-command.js';
import { withHeartbeat } from '../runtime/heartbeat.js';

/** Ends the background commands of a run. Returns how many it ended. */
export type EndRun = (run: RunChain) => Promise<number>;

/** Makes the activity `endCommands`, which the run calls at its end on the host of its workspace. */
export function createEndCommands(endRun: EndRun = () => Promise.resolve(0)): AgentActivities['endCommands'] {
  return (run) => {
    const startedAt = Date.now();
    return withHeartbeat(
      'endCommands',
      () => ({ phase: 'ending commands', elapsedMs: Date.now() - startedAt }),
      async () => ({ ended: await endRun(run) }),
    );
  };
}

/** A run that can start background commands ends them, if its workflow code can; else workers find out that it has ended. */
export function endsCommands(tools: readonly ToolDescriptor[], level: number | undefined): Pick<PreparedRun, 'endsCommands'> {
  const isDue = level !== undefined && level >= COMMANDS_LEVEL && tools.some(({ name }) => name === START_COMMAND);
  return isDue ? { endsCommands: true } : {};
}
