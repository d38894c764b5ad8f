import { access, mkdir, rm, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { writeFileDurably } from '../../artifacts/durable-file.js';
import { BACKGROUND_LIMITS } from '../../contracts/constants/limits.js';
import { type ProcessIdentity, processIdentity } from '../../process/process-identity.js';
import { type ProcessOrder, type ProcessTreeEnd, runProcessTree } from '../../process/process-tree.js';
import { type NetworkSharing, networkOf } from '../../process/sandbox/shared-network.js';
import { type BoundsOptions, type CommandBounds, openBounds } from '../workspace/command-bounds.js';
import { openJail } from '../workspace/jail.js';
import { type GuardAlarm, LongGuard } from '../workspace/long-guard.js';
import type { ProtectedState } from '../workspace/protected-paths.js';
import { reachedBy } from '../workspace/report-text.js';
import { COMMAND_FILES, type CommandEnd, type CommandRecord, readCommandFile, StopReason } from './command-record.js';
import { OutputFiles } from './output-files.js';

/** What a worker asks of a holder, as JSON on its input. */
export interface HolderOrder {
  /** The folder of the command, which the holder makes. */
  readonly folder: string;
  readonly record: Omit<CommandRecord, 'holder'>;
  readonly bounds: Pick<BoundsOptions, 'sandbox' | 'writable'>;
  readonly sharing?: NetworkSharing | undefined;
  readonly outputBytesMax: number;
  readonly lifetimeMs: number;
}

/** What a holder answers, once, as a line of JSON. `exists`: the command of this call was started before. */
export type HolderAnswer = { readonly kind: 'started' | 'exists' } | { readonly kind: 'failed'; readonly message: string };

/** How to tell a holder from outside that it must end. */
export interface HolderSignals {
  readonly answer: (answer: HolderAnswer) => void;
  /** Aborted when the process itself was asked to end. */
  readonly terminated: AbortSignal;
}

/**
 * Starts a command, and holds it until it ends: its process tree, its output, its limits and its exit code. All else is files, so that the
 * worker may die. The folder is made once: of two holders of one call, the second one starts nothing. Rejects with an error of the disk.
 */
export async function holdCommand(order: HolderOrder, { answer, terminated }: HolderSignals): Promise<void> {
  const { folder, record } = order;
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  if (!(await makesFolder(folder))) return answer({ kind: 'exists' });
  const holder = processIdentity();
  const ready = holder && (await prepare(order).catch((error: unknown) => ({ problem: messageOf(error) })));
  if (!ready || 'problem' in ready) {
    await rm(folder, { recursive: true, force: true });
    return answer({ kind: 'failed', message: ready?.problem ?? 'FAILED: the holder of the command cannot identify itself' });
  }
  await writeJson(folder, COMMAND_FILES.record, { ...record, holder } satisfies CommandRecord & { holder: ProcessIdentity });
  await new HeldCommand(order, ready).run(answer, terminated);
}

/** What is needed to start a command. */
interface ReadyCommand {
  readonly bounds: CommandBounds;
  readonly order: ProcessOrder;
  readonly root: string;
  readonly guard: LongGuard | undefined;
}

/** Opens the bounds of the command. Rejects with what the model sees; then nothing is open. */
async function prepare({ record, bounds: given, sharing }: HolderOrder): Promise<ReadyCommand> {
  const jail = await openJail(record.workspace);
  let guard: LongGuard | undefined;
  const before: ProtectedState = { marks: new Map(record.before.marks), folders: record.before.folders };
  const openGuard = async (): Promise<LongGuard> => {
    guard = await LongGuard.open(jail, { entries: record.protected, before });
    return guard;
  };
  const bounds = await openBounds(jail, { ...given, protected: record.protected, sharing, guard: openGuard });
  try {
    return { bounds, order: await bounds.order(record.command), root: jail.root, guard };
  } catch (error) {
    await bounds.close();
    throw error;
  }
}

/** A command that runs. */
class HeldCommand {
  readonly #order: HolderOrder;
  readonly #ready: ReadyCommand;
  readonly #output: OutputFiles;
  readonly #stop = new AbortController();
  #reason: StopReason | undefined;
  #why: string | undefined;
  #pid: number | undefined;

  constructor(order: HolderOrder, ready: ReadyCommand) {
    this.#order = order;
    this.#ready = ready;
    this.#output = new OutputFiles(order.folder);
  }

  async run(answer: HolderSignals['answer'], terminated: AbortSignal): Promise<void> {
    const { folder, lifetimeMs, outputBytesMax } = this.#order;
    const ended = new AbortController();
    const onTerminated = (): void => this.#end(undefined, 'its holder was asked to end by a signal');
    terminated.addEventListener('abort', onTerminated, { once: true });
    const watching = this.#watch(ended.signal);
    const running = runProcessTree({
      order: this.#ready.order,
      folder: this.#ready.root,
      timeoutMs: lifetimeMs,
      signal: this.#stop.signal,
      output: this.#output,
      outputBytesMax,
      onStarted: (pid) => {
        this.#pid = pid;
        void this.#shareNetwork(pid, ended.signal);
        answer({ kind: 'started' });
      },
    });
    const [end] = await Promise.allSettled([running]);
    ended.abort();
    await watching;
    const report = await this.#ready.bounds.close();
    await this.#output.finish();
    if (end.status === 'rejected') this.#why = messageOf(end.reason);
    const last = await this.#describe(end.status === 'fulfilled' ? end.value : undefined, report);
    // without its folder, nobody wants to know
    if (await exists(folder)) await writeJson(folder, COMMAND_FILES.end, last);
    if (end.status === 'rejected') answer({ kind: 'failed', message: messageOf(end.reason) });
  }

  /** Writes by which process other commands of the run find this network. */
  async #shareNetwork(pid: number, ended: AbortSignal): Promise<void> {
    if (!this.#order.sharing) return;
    const until = Date.now() + BACKGROUND_LIMITS.startMsMax;
    while (!ended.aborted && Date.now() < until) {
      const network = networkOf(pid);
      if (network) return await writeJson(this.#order.folder, COMMAND_FILES.network, network).catch(() => undefined);
      await delay(NETWORK_EVERY_MS);
    }
  }

  /** Looks for the wish to stop, for protected files, and shows that it lives. Never rejects. */
  async #watch(ended: AbortSignal): Promise<void> {
    const { folder } = this.#order;
    let [guardedAt, aliveAt] = [0, 0];
    while (!ended.aborted) {
      const now = Date.now();
      if (!(await exists(folder))) this.#end(undefined, 'its folder was removed');
      else if (await exists(join(folder, COMMAND_FILES.stop))) this.#end(await readReason(folder));
      if (now - guardedAt >= BACKGROUND_LIMITS.guardEveryMs) {
        guardedAt = now;
        await this.#checkGuard();
      }
      if (now - aliveAt >= BACKGROUND_LIMITS.aliveEveryMs) {
        aliveAt = now;
        await utimes(join(folder, COMMAND_FILES.record), new Date(), new Date()).catch(() => undefined);
      }
      await delay(BACKGROUND_LIMITS.lookEveryMs, undefined, { signal: ended }).catch(() => undefined);
    }
  }

  /** What a command could do without its cover is worse than an end without warning. */
  async #checkGuard(): Promise<void> {
    const alarm = await this.#ready.guard?.check().catch(unknownCover);
    if (!alarm) return;
    this.#end(alarm.kind, alarm.why);
    if (this.#pid !== undefined) killGroup(this.#pid);
  }

  #end(reason: StopReason | undefined, why?: string): void {
    if (this.#stop.signal.aborted) return;
    this.#reason = reason;
    this.#why = why;
    this.#stop.abort();
  }

  async #describe(end: ProcessTreeEnd | undefined, report: Awaited<ReturnType<CommandBounds['close']>>): Promise<CommandEnd> {
    const { limits } = this.#ready.bounds;
    const stopped = this.#stop.signal.aborted ? 'stopped' : undefined;
    const endedBy = end?.endedBy === 'abort' ? 'stopped' : end?.endedBy;
    const why = this.#why ?? this.#output.problem;
    return {
      endedBy: stopped ?? endedBy ?? 'lost',
      ...(this.#reason && { reason: this.#reason }),
      ...(end && { exitCode: end.exitCode }),
      reached: end ? [...reachedBy(report, end, this.#output)] : [],
      ...(limits && { limits: { ...limits } }),
      refused: [...report.refused],
      ...(why !== undefined && { why }),
      endedAt: Date.now(),
    };
  }
}

const NETWORK_EVERY_MS = 20;

/** What cannot be looked at may be anything. */
function unknownCover(error: unknown): GuardAlarm {
  return { kind: 'uncovered', why: messageOf(error) };
}

/** False if the folder is there: another holder has it. */
async function makesFolder(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { mode: 0o700 });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

async function readReason(folder: string): Promise<StopReason> {
  return (await readCommandFile(folder, COMMAND_FILES.stop, StopReason)) ?? 'stop_command';
}

async function writeJson(folder: string, name: string, value: unknown): Promise<void> {
  await writeFileDurably(join(folder, name), `${JSON.stringify(value)}\n`);
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // it ended meanwhile
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
