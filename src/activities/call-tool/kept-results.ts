import { createHash } from 'node:crypto';
import type { CallToolResult, RecallResult, RecallResultInput } from '../../contracts/activities.js';
import { LOSS_LIMITS } from '../../contracts/constants/limits.js';
import { steadyMs } from '../runtime/steady-clock.js';
import { ResultFiles } from './result-files.js';

/** One tool call of one execution of a run. A reset run has another `executionId`, and its calls run again. */
export interface KeptCall extends RecallResultInput {
  readonly executionId: string;
}

/** Options of `KeptResults`. */
export interface KeptResultsOptions {
  /** The folder for results that may outlast this process. @default memory only */
  readonly folder?: string;
  /** Called when a result could not be written. It is then kept in memory only. */
  readonly onError?: (error: unknown) => void;
}

/** What this process knows of a call. `bytes`: size of a finished result in memory. */
type Entry = { readonly runId: string; readonly turn: number } & (
  | { readonly kind: 'running'; readonly sinceMs: number }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'done'; readonly result: CallToolResult; readonly bytes: number }
);

/**
 * The results of finished tool calls, until the run no longer needs them. The SDK does not report whether the server took a result: in an
 * outage it is lost, although the worker has it.
 *
 * A result is dropped when a later call of its run starts here, else by age, number and size. It is written to disk if it is not dropped
 * within a second, or before its activity ends if the server cannot be reached then.
 */
export class KeptResults {
  readonly #files: ResultFiles | undefined;
  readonly #onError: (error: unknown) => void;
  /** Newest last. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor({ folder, onError = () => undefined }: KeptResultsOptions = {}) {
    this.#files = folder === undefined ? undefined : new ResultFiles(folder);
    this.#onError = onError;
  }

  /** Notes that a call was started. */
  started(call: KeptCall): void {
    const { runId, turn } = call;
    this.#set(nameOf(call), { runId, turn, kind: 'running', sinceMs: steadyMs() });
  }

  /**
   * Notes that a call ended without a result. With `shared`, the other processes of this host know it too: the server may not have taken
   * the end, and any of them may be asked. A result that another start of the call left stays. Resolves when it is noted; never rejects.
   */
  async stopped(call: KeptCall, { shared }: { readonly shared: boolean }): Promise<void> {
    const { runId, turn } = call;
    const name = nameOf(call);
    this.#set(name, { runId, turn, kind: 'stopped' });
    if (shared && (await this.#read(name)).kind !== 'done') await this.#write(name, { v: 1, stopped: true });
  }

  /** Forgets that a call ended without a result, because it starts again. Never rejects. */
  async forget(call: KeptCall): Promise<void> {
    const name = nameOf(call);
    this.#delete(name);
    await this.#files?.removeOne(name);
  }

  /** Keeps the result of a call. With `now` it resolves when the result is on disk. Never rejects. */
  async finished(call: KeptCall, result: CallToolResult, { now }: { readonly now: boolean }): Promise<void> {
    const { runId, turn } = call;
    const name = nameOf(call);
    const entry = { runId, turn, kind: 'done', result, bytes: Buffer.byteLength(JSON.stringify(result)) } as const;
    this.#set(name, entry);
    if (now) return await this.#persist(name, entry);
    setTimeout(() => void this.#persist(name, entry), LOSS_LIMITS.persistAfterMs);
  }

  /** False when the result of a call was dropped: its run has it. */
  isKept(call: KeptCall): boolean {
    return this.#entries.get(nameOf(call))?.kind === 'done';
  }

  /** Looks a call up, in memory and on disk. A disk that cannot be read counts as `unknown`. */
  async recall(call: KeptCall): Promise<RecallResult> {
    const name = nameOf(call);
    const entry = this.#entries.get(name);
    if (entry?.kind === 'done') return { kind: 'done', result: entry.result };
    if (entry?.kind === 'running') return { kind: 'running', elapsedMs: Math.round(steadyMs() - entry.sinceMs) };
    if (entry) return { kind: 'stopped' };
    return await this.#read(name);
  }

  /** Drops the results of a run that it no longer needs, because a later call starts. `key`: the call that starts, if it is a tool's. */
  passed({ runId, turn }: Pick<KeptCall, 'runId' | 'turn'>, call?: KeptCall): void {
    const own = call && nameOf(call);
    const isPast = (of: { readonly turn: number }, name: string): boolean =>
      of.turn < turn || (own !== undefined && of.turn === turn && name !== own);
    for (const [name, entry] of this.#entries) {
      if (entry.kind !== 'running' && entry.runId === runId && isPast(entry, name)) this.#delete(name);
    }
    const prefix = `${runOf(runId)}.`;
    void this.#files?.remove((name) => name.startsWith(prefix) && isPast({ turn: Number(name.split('.')[1]) }, name));
  }

  async #persist(name: string, entry: Entry & { readonly kind: 'done' }): Promise<void> {
    // it was dropped meanwhile
    if (this.#entries.get(name) === entry) await this.#write(name, { v: 1, result: entry.result });
  }

  async #write(name: string, file: KeptFile): Promise<void> {
    try {
      await this.#files?.write(name, file);
    } catch (error) {
      this.#onError(error);
    }
  }

  async #read(name: string): Promise<RecallResult> {
    try {
      const found = await this.#files?.read(name);
      if (!isKeptFile(found)) return { kind: 'unknown' };
      return 'result' in found ? { kind: 'done', result: found.result } : { kind: 'stopped' };
    } catch (error) {
      this.#onError(error);
      return { kind: 'unknown' };
    }
  }

  #set(name: string, entry: Entry): void {
    this.#delete(name);
    this.#entries.set(name, entry);
    if (entry.kind === 'done') this.#bytes += entry.bytes;
    for (const [oldest, old] of this.#entries) {
      if (this.#bytes <= LOSS_LIMITS.resultsMemoryBytesMax && this.#entries.size <= LOSS_LIMITS.resultsKeptMax) return;
      // running calls are bounded by the worker, and are needed
      if (old.kind !== 'running' && oldest !== name) this.#delete(oldest);
    }
  }

  #delete(name: string): void {
    const entry = this.#entries.get(name);
    if (entry?.kind === 'done') this.#bytes -= entry.bytes;
    this.#entries.delete(name);
  }
}

/** The name of a call, also of its file: run, turn, and the call itself. Ids of people are hashed, because they may not fit a file name. */
function nameOf({ runId, turn, executionId, key }: KeptCall): string {
  return `${runOf(runId)}.${turn}.${hashOf(`${executionId}\n${key}`)}`;
}

function runOf(runId: string): string {
  return hashOf(runId).slice(0, 16);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** What a file holds. */
type KeptFile = { readonly v: 1; readonly result: CallToolResult } | { readonly v: 1; readonly stopped: true };

/** This package wrote the file, whole: its parts need no further check. */
function isKeptFile(value: unknown): value is KeptFile {
  return typeof value === 'object' && value !== null && 'v' in value && value.v === 1 && ('result' in value || 'stopped' in value);
}
