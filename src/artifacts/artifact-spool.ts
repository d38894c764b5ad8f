import { ARTIFACT_LIMITS } from '../contracts/constants/limits.js';
import { formatBytes, wholeBefore } from '../output/truncate-output.js';
import { ArtifactError, type ArtifactStore, type ArtifactWriter } from './artifact-store.js';

const PIECE_CHARS = 256 * 1_024;

/** What a spool needs of its call. */
export interface ArtifactSpoolOptions {
  readonly store: ArtifactStore;
  /** Aborted when the call must end soon. */
  readonly signal: AbortSignal;
  /** Told once why an output could not be kept. */
  readonly onProblem: (problem: string) => void;
}

/**
 * Puts pieces into an artifact in the order they are given, while more of them come. That a store fails, or is too slow, never fails
 * the call: it is said where the reference would stand.
 */
export class ArtifactSpool {
  readonly #options: ArtifactSpoolOptions;
  readonly #writer: ArtifactWriter;
  #queue: Promise<void> = Promise.resolve();
  #takenBytes = 0;
  #isCapped = false;
  #problem: string | undefined;

  constructor(options: ArtifactSpoolOptions) {
    this.#options = options;
    this.#writer = options.store.put();
  }

  /** Resolves when the piece is stored, and is its giver's again. Never rejects. What is above the largest size of an artifact is dropped. */
  write(piece: Uint8Array): Promise<void> {
    const kept = piece.subarray(0, ARTIFACT_LIMITS.bytesMax - this.#takenBytes);
    this.#isCapped ||= kept.length < piece.length;
    this.#takenBytes += kept.length;
    this.#queue = this.#queue.then(() => this.#store(kept));
    return this.#queue;
  }

  /** Ends it, within the time there is, and gives what the footer says of the whole. Never rejects. */
  finish(): Promise<string> {
    return this.#inTime(() => this.#end());
  }

  /** Stores a text and ends. Never rejects. */
  finishWith(text: string): Promise<string> {
    return this.#inTime(async () => {
      for (const piece of encodedPieces(text)) await this.write(piece);
      return this.#end();
    });
  }

  /** Gives up: nothing of it is kept. */
  abandon(): void {
    this.#problem ??= 'its call ended before';
    void this.#writer.discard();
  }

  async #inTime(work: () => Promise<string>): Promise<string> {
    const { signal } = this.#options;
    const timer = new AbortController();
    const late = timeout(signal.aborted ? ARTIFACT_LIMITS.finishMsMaxStopped : ARTIFACT_LIMITS.finishMsMax, timer.signal);
    try {
      const kept = await Promise.race([work(), late]);
      return kept ?? this.#lost('the store took too long');
    } catch (error) {
      return this.#lost(reasonOf(error));
    } finally {
      timer.abort();
    }
  }

  async #store(piece: Uint8Array): Promise<void> {
    try {
      if (this.#problem === undefined && piece.length > 0) await this.#writer.write(piece);
    } catch (error) {
      this.#lost(reasonOf(error));
    }
  }

  async #end(): Promise<string> {
    await this.#queue;
    if (this.#problem !== undefined) return this.#lost(this.#problem);
    const { ref, bytes } = await this.#writer.finish();
    const what = this.#isCapped ? `the first ${formatBytes(bytes)}` : 'whole output';
    return `${what}: read_artifact {"ref":"${ref}"}`;
  }

  #lost(reason: string): string {
    if (this.#problem === undefined) {
      this.#problem = reason;
      this.#options.onProblem(`an output could not be kept as an artifact: ${reason}`);
      // nobody waits for it: it never rejects, and what it leaves is swept later
      void this.#writer.discard();
    }
    return `the whole could not be kept: ${this.#problem}`;
  }
}

/** A text in pieces, so that it is not copied as a whole. */
function* encodedPieces(text: string): Generator<Buffer> {
  for (let at = 0; at < text.length; ) {
    const end = wholeBefore(text, at + PIECE_CHARS);
    yield Buffer.from(text.slice(at, end));
    at = end;
  }
}

/** A few words without a path or an address: a model reads them. */
function reasonOf(error: unknown): string {
  if (error instanceof ArtifactError) return error.message;
  if (error instanceof Error && 'code' in error) return String(error.code);
  return error instanceof Error ? error.name : 'unknown error';
}

function timeout(ms: number, signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), ms);
    signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  });
}
