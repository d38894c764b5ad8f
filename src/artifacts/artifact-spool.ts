import { ARTIFACT_LIMITS } from '../contracts/constants/limits.js';
import { formatBytes, wholeBefore } from '../output/truncate-output.js';
import { ArtifactError, type ArtifactStore, type ArtifactWriter } from './artifact-store.js';

const PIECE_CHARS = 256 * 1_024;

/** Options of `ArtifactSpool`. */
export interface ArtifactSpoolOptions {
  readonly store: ArtifactStore;
  /** Aborts when the call must end soon. */
  readonly signal: AbortSignal;
  /** Called once with the reason why an output could not be stored. */
  readonly onProblem: (problem: string) => void;
}

/**
 * Streams the pieces of an output to an artifact, in order. A store that fails or is too slow does not fail the call: the footer
 * contains the reason instead of the reference.
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

  /** Resolves when the piece is stored; the caller may then reuse it. Never rejects. Drops bytes above the size limit of an artifact. */
  write(piece: Uint8Array): Promise<void> {
    const kept = piece.subarray(0, ARTIFACT_LIMITS.bytesMax - this.#takenBytes);
    this.#isCapped ||= kept.length < piece.length;
    this.#takenBytes += kept.length;
    this.#queue = this.#queue.then(() => this.#store(kept));
    return this.#queue;
  }

  /** Finishes the artifact within a time limit. Returns the text for the footer. Never rejects. */
  finish(): Promise<string> {
    return this.#inTime(() => this.#end());
  }

  /** Stores a text and finishes. Never rejects. */
  finishWith(text: string): Promise<string> {
    return this.#inTime(async () => {
      for (const piece of encodedPieces(text)) await this.write(piece);
      return this.#end();
    });
  }

  /** Discards the artifact. */
  abandon(): void {
    this.#problem ??= 'the call ended first';
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
    const what = this.#isCapped ? `the first ${formatBytes(bytes)}` : 'full output';
    return `${what}: read_artifact {"ref":"${ref}"}`;
  }

  #lost(reason: string): string {
    if (this.#problem === undefined) {
      this.#problem = reason;
      this.#options.onProblem(`an output could not be stored as an artifact: ${reason}`);
      // not awaited: it never rejects, and a later sweep removes the rest
      void this.#writer.discard();
    }
    return `the full output could not be stored: ${this.#problem}`;
  }
}

/** Encodes a text in pieces, to avoid a copy of the whole text. */
function* encodedPieces(text: string): Generator<Buffer> {
  for (let at = 0; at < text.length; ) {
    const end = wholeBefore(text, at + PIECE_CHARS);
    yield Buffer.from(text.slice(at, end));
    at = end;
  }
}

/** A short reason for the model, without a path or an address. */
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
