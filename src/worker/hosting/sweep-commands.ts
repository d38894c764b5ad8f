import { setTimeout as pause } from 'node:timers/promises';
import { Client, WorkflowNotFoundError } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import { BACKGROUND_LIMITS } from '../../contracts/constants/limits.js';
import type { BackgroundCommands, RunState } from '../../tools/commands/background-commands.js';
import type { CommandRun } from '../../tools/commands/command-record.js';

/** Options of `sweepCommands`. */
export interface SweepOptions {
  readonly commands: BackgroundCommands;
  readonly connection: NativeConnection;
  readonly namespace: string;
  /** False when the worker has ended: then the sweep ends too. */
  readonly isNeeded: () => boolean;
  readonly say: (line: string) => void;
  /** @default 20 s */
  readonly everyMs?: number;
}

/**
 * Ends the background commands of runs that have ended, again and again while a worker lives: of terminated runs, and of runs that ended
 * while no worker of this host was there. Does not keep the process alive. Never rejects: a server that does not answer is asked again.
 */
export async function sweepCommands({ commands, connection, namespace, isNeeded, say, everyMs }: SweepOptions): Promise<void> {
  const client = new Client({ connection, namespace });
  let told: string | undefined;
  while (isNeeded()) {
    try {
      await commands.sweep((run) => stateOfRun(client, run));
      told = undefined;
    } catch (error) {
      const line = `background commands of ended runs could not be looked for: ${error instanceof Error ? error.message : String(error)}`;
      if (line !== told && isNeeded()) say(line);
      told = line;
    }
    await pause(everyMs ?? BACKGROUND_LIMITS.sweepEveryMs, undefined, { ref: false });
  }
}

/**
 * Whether a run has ended. Of a run that this server does not have, nothing is known: the state folder may serve several servers. The
 * longest life of a command bounds it. Rejects if the server does not answer.
 */
async function stateOfRun({ workflow }: Client, { runId, chain }: CommandRun): Promise<RunState> {
  try {
    const { closeTime, raw } = await workflow.getHandle(runId).describe();
    const first = raw.workflowExecutionInfo?.firstRunId ?? '';
    if (first === chain) return closeTime === undefined ? 'live' : 'over';
    return await stateOfEarlier(workflow, { runId, chain });
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'unknown';
    throw error;
  }
}

/** A run whose id a later run has: it has ended. Rejects with WorkflowNotFoundError if it was never on this server. */
async function stateOfEarlier(workflow: Client['workflow'], { runId, chain }: CommandRun): Promise<RunState> {
  await workflow.getHandle(runId, chain).describe();
  return 'over';
}
