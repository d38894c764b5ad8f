import { access, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createFileOnce } from '../../artifacts/durable-file.js';
import { BACKGROUND_LIMITS, TOOL_LIMITS } from '../../contracts/constants/limits.js';
import { hasErrno } from '../../contracts/files/file-errors.js';
import { argumentsOf, isOfThisPlace, isProvedDead } from '../../process/process-identity.js';
import { isLiveNetwork, type SharedNetwork } from '../../process/sandbox/shared-network.js';
import type { ProtectedState } from '../workspace/protected-paths.js';
import {
  COMMAND_FILES,
  CommandEnd,
  CommandRecord,
  type CommandRun,
  NetworkRecord,
  readCommandFile,
  runFolder,
  type StopReason,
} from './command-record.js';
import type { HolderAnswer, HolderOrder } from './hold-command.js';
import { lossOf, settleLost } from './lost-command.js';
import { startHolder } from './start-holder.js';

/** A command of a run. */
export interface BackgroundCommand {
  readonly folder: string;
  readonly record: CommandRecord;
}

/** What is known of a command now. */
export type CommandState = { readonly kind: 'running' } | { readonly kind: 'ended'; readonly end: CommandEnd };

/** Whether the run of a command has ended. `unknown`: this server does not have it. */
export type RunState = 'live' | 'over' | 'unknown';

/** What `BackgroundCommands` needs. */
export interface BackgroundOptions {
  readonly stateDir: string;
  /** The folder of all commands, in the state folder. */
  readonly folder: string;
  /** The path of the holder's program. */
  readonly program: string;
}

/** Where files of no command may be left by a holder that died at once. */
const HALF_MADE_MS = 2 * BACKGROUND_LIMITS.startMsMax;

/**
 * The background commands of a state folder. All that is known of them is in files, so that the next worker finds them. Workers of one
 * folder may share one of these.
 */
export class BackgroundCommands {
  readonly #options: BackgroundOptions;
  #starting: Promise<unknown> = Promise.resolve();

  constructor(options: BackgroundOptions) {
    this.#options = options;
  }

  /** Where the command of a call is, or will be. */
  folderOf(run: CommandRun, id: string): string {
    return join(runFolder(this.#options.folder, run), id);
  }

  /** The commands of a run, the oldest one first. */
  async list(run: CommandRun): Promise<readonly BackgroundCommand[]> {
    return await commandsIn(runFolder(this.#options.folder, run));
  }

  /** The command of an id, else the newest one of a name. Of this run only. */
  async find(run: CommandRun, id: string): Promise<BackgroundCommand | undefined> {
    const all = await this.list(run);
    return all.find(({ record }) => record.id === id) ?? all.findLast(({ record }) => record.name === id);
  }

  /** True while a holder has made the folder of a command, and not yet its record. */
  async isStarting(run: CommandRun, id: string): Promise<boolean> {
    return await isThere(this.folderOf(run, id));
  }

  /** How a command is now. The first look at a lost one settles it. */
  async stateOf(command: BackgroundCommand): Promise<CommandState> {
    const end = await readCommandFile(command.folder, COMMAND_FILES.end, CommandEnd);
    if (end) return { kind: 'ended', end };
    const why = await lossOf(command);
    return why === undefined ? { kind: 'running' } : { kind: 'ended', end: await settleLost(command, why) };
  }

  /**
   * Starts a command that no earlier call with its key has started. One after the other, so that the limits hold. Throws an Error with a
   * code: too many commands, or what its sandbox refuses.
   */
  start(order: HolderOrder, signal: AbortSignal): Promise<Exclude<HolderAnswer['kind'], 'failed'>> {
    const starting = this.#starting.then(() => this.#start(order, signal));
    this.#starting = starting.catch(() => undefined);
    return starting;
  }

  /** Ends a command, and waits until it has ended: SIGTERM, 2 s, SIGKILL; on a full disk SIGKILL at once. Returns how it was found, and how it is now. */
  async stop(command: BackgroundCommand, reason: StopReason): Promise<{ readonly found: CommandState; readonly now: CommandState }> {
    const found = await this.stateOf(command);
    if (found.kind === 'ended') return { found, now: found };
    if (await asksToStop(command.folder, reason)) {
      const gentle = await this.#untilEnded(command, TOOL_LIMITS.killGraceMs + BACKGROUND_LIMITS.endMsMax);
      if (gentle.kind === 'ended') return { found, now: gentle };
    }
    killHolder(command);
    return { found, now: await this.#untilEnded(command, BACKGROUND_LIMITS.endMsMax) };
  }

  /** Ends the commands of a run. Returns how many it ended. */
  async endRun(run: CommandRun): Promise<number> {
    const ended = await Promise.all((await this.list(run)).map((command) => this.stop(command, 'run ended')));
    return ended.filter(({ found }) => found.kind === 'running').length;
  }

  /** The network that the live commands of a run share. Undefined without one. */
  async network(run: CommandRun): Promise<SharedNetwork | undefined> {
    for (const command of await this.list(run)) {
      if (!isOfThisPlace(command.record.holder) || (await this.stateOf(command)).kind !== 'running') continue;
      const network = await readCommandFile(command.folder, COMMAND_FILES.network, NetworkRecord);
      if (network && isLiveNetwork(network)) return network;
    }
    return undefined;
  }

  /** What the protected files of a workspace were when its oldest live command began. Undefined without one. */
  async before(workspace: string): Promise<ProtectedState | undefined> {
    const live = (await this.#live()).filter(({ record }) => record.workspace === workspace);
    const [oldest] = live.toSorted((a, b) => a.record.startedAt - b.record.startedAt);
    return oldest && { marks: new Map(oldest.record.before.marks), folders: oldest.record.before.folders };
  }

  /** Ends the commands of runs that have ended, and removes their files after a while. `stateOf` asks the server. Rejects if that does. */
  async sweep(stateOf: (run: CommandRun) => Promise<RunState>): Promise<void> {
    for (const folder of await foldersIn(this.#options.folder)) {
      const commands = await commandsIn(folder);
      const [first] = commands;
      if (!first) await removeHalfMade(folder);
      else if ((await stateOf(first.record.run)) === 'over') await this.#endAll(folder, commands);
      // the first look at a lost one settles it
      else await Promise.all(commands.map((command) => this.stateOf(command)));
    }
  }

  async #endAll(folder: string, commands: readonly BackgroundCommand[]): Promise<void> {
    const states = await Promise.all(commands.map((command) => this.stop(command, 'run ended')));
    const ends = states.map(({ now }) => (now.kind === 'ended' ? now.end.endedAt : Number.POSITIVE_INFINITY));
    if (Math.max(...ends) + BACKGROUND_LIMITS.keepAfterRunMs < Date.now()) await rm(folder, { recursive: true, force: true });
  }

  async #start(order: HolderOrder, signal: AbortSignal): Promise<Exclude<HolderAnswer['kind'], 'failed'>> {
    if (await isThere(order.folder)) return 'exists';
    await this.#makeRoom(order.record.run);
    const { program, stateDir } = this.#options;
    const answer = await startHolder({ program, stateDir, order, signal });
    if (answer.kind === 'failed') throw new Error(answer.message);
    return answer.kind;
  }

  /** Throws `TOO_MANY_COMMANDS`. Removes the oldest ended command of a run with many. */
  async #makeRoom(run: CommandRun): Promise<void> {
    const own = await this.list(run);
    const states = await Promise.all(own.map(async (command) => ({ command, state: await this.stateOf(command) })));
    const live = states.filter(({ state }) => state.kind === 'running');
    if (live.length >= BACKGROUND_LIMITS.liveOfRunMax) {
      const names = live.map(({ command }) => command.record.id).join(', ');
      throw new Error(`TOO_MANY_COMMANDS: this run has ${live.length} running commands; stop one with stop_command: ${names}`);
    }
    if ((await this.#live()).length >= BACKGROUND_LIMITS.liveOfWorkerMax) {
      throw new Error(
        `TOO_MANY_COMMANDS: ${BACKGROUND_LIMITS.liveOfWorkerMax} commands of all runs are running on this worker; try again later`,
      );
    }
    const oldest = states
      .filter(({ state }) => state.kind === 'ended')
      .slice(0, Math.max(0, own.length - BACKGROUND_LIMITS.keptOfRunMax + 1));
    for (const { command } of oldest) await rm(command.folder, { recursive: true, force: true });
  }

  async #live(): Promise<readonly BackgroundCommand[]> {
    const all = (await Promise.all((await foldersIn(this.#options.folder)).map(commandsIn))).flat();
    const states = await Promise.all(all.map((command) => this.stateOf(command)));
    return all.filter((_, index) => states[index]?.kind === 'running');
  }

  async #untilEnded(command: BackgroundCommand, waitMs: number): Promise<CommandState> {
    const until = Date.now() + waitMs;
    for (;;) {
      const state = await this.stateOf(command);
      if (state.kind === 'ended' || Date.now() > until) return state;
      await delay(BACKGROUND_LIMITS.lookEveryMs);
    }
  }
}

/** Asks a holder to end its command. False if the disk takes no file: a command that filled it must end too. */
async function asksToStop(folder: string, reason: StopReason): Promise<boolean> {
  try {
    // the first reason stays
    await createFileOnce(join(folder, COMMAND_FILES.stop), JSON.stringify(reason));
    return true;
  } catch (error) {
    // a holder whose folder was removed with its run ends by itself
    return hasErrno(error, 'ENOENT');
  }
}

/** Kills a holder that does not answer; its command ends with it. Never a process that is not proved to be that holder. */
function killHolder({ folder, record: { holder } }: BackgroundCommand): void {
  if (!isOfThisPlace(holder) || isProvedDead(holder) || !argumentsOf(holder.pid)?.includes(folder)) return;
  try {
    process.kill(holder.pid, 'SIGKILL');
  } catch {
    // it ended meanwhile
  }
}

/** The commands of one run, the oldest one first. */
async function commandsIn(folder: string): Promise<readonly BackgroundCommand[]> {
  const found = await Promise.all(
    (await foldersIn(folder)).map(async (path) => {
      const record = await readCommandFile(path, COMMAND_FILES.record, CommandRecord);
      return record ? [{ folder: path, record }] : [];
    }),
  );
  return found.flat().toSorted((a, b) => a.record.startedAt - b.record.startedAt);
}

async function foldersIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
}

/** Removes what a holder left that died before it wrote its record. */
async function removeHalfMade(folder: string): Promise<void> {
  const changedAt = (await stat(folder).catch(() => undefined))?.mtimeMs ?? Date.now();
  if (Date.now() - changedAt > HALF_MADE_MS) await rm(folder, { recursive: true, force: true });
}

async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
