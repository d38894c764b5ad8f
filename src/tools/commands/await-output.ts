import { setTimeout as delay } from 'node:timers/promises';
import { BACKGROUND_LIMITS } from '../../contracts/constants/limits.js';
import type { BackgroundCommand, BackgroundCommands, CommandState } from './background-commands.js';
import { outputSize, readOutput } from './output-files.js';

const NEWLINE = 0x0a;

/** What to wait for. */
export interface OutputWait {
  /** The position behind the output that is known. */
  readonly from: number;
  readonly waitMs: number;
  /** Ends the wait, which then returns the state as it is. */
  readonly signal: AbortSignal;
}

/** Waits until a command has a new whole line behind a position, or has ended. Resolves after `waitMs` too. */
export async function awaitOutput(commands: BackgroundCommands, command: BackgroundCommand, wait: OutputWait): Promise<CommandState> {
  const until = Date.now() + wait.waitMs;
  let seen = wait.from;
  for (;;) {
    const state = await commands.stateOf(command);
    if (state.kind === 'ended' || wait.signal.aborted || Date.now() >= until) return state;
    const size = await outputSize(command.folder);
    if (size > seen && (await hasLine(command, wait.from))) return state;
    seen = Math.max(seen, size);
    await delay(BACKGROUND_LIMITS.lookEveryMs, undefined, { signal: wait.signal }).catch(() => undefined);
  }
}

async function hasLine({ folder }: BackgroundCommand, from: number): Promise<boolean> {
  return (await readOutput(folder, { from, bytesMax: BACKGROUND_LIMITS.headBytes })).bytes.includes(NEWLINE);
}
