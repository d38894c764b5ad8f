/** The reference and the size of a stored artifact. */
export interface KeptArtifact {
  /** `sha256:` and the hash of the content, in hex. */
  readonly ref: string;
  readonly bytes: number;
}

/** A page of an artifact, and the size of the whole artifact. */
export interface ArtifactPage {
  /** Shorter than requested only at the end. Empty if the offset is behind the end. */
  readonly bytes: Buffer;
  readonly size: number;
}

/**
 * Writes an artifact.
 *
 * Contract: `write` is called again only after its promise has resolved; the caller may then reuse the bytes. `write` and `finish` reject
 * if the store fails; then only `discard` may be called. `discard` removes an unfinished artifact. It may be called at any time and
 * repeatedly, and never rejects.
 */
export interface ArtifactWriter {
  write(piece: Uint8Array): Promise<void>;
  /** Makes the artifact durable and readable, atomically. */
  finish(): Promise<KeptArtifact>;
  discard(): Promise<void>;
}

/**
 * Stores large outputs outside of the transcript, named by the hash of their content. A reference grants access and cannot be guessed.
 *
 * Contract: writers may run concurrently, also with the same content and in other processes. Memory use does not depend on the size of
 * an artifact. A writer whose process dies leaves no readable artifact.
 */
export interface ArtifactStore {
  put(): ArtifactWriter;
  /** Reads a page. Throws ArtifactError `BLOB_MISSING`, `BLOB_CORRUPT`, `BAD_REF` or `STORE_FAILED`. Verifies an artifact that is read whole. */
  read(ref: string, window: { readonly offset: number; readonly bytes: number }): Promise<ArtifactPage>;
}

/** The reason why an artifact cannot be read. After `STORE_FAILED`, the artifact may still exist. */
export type ArtifactErrorCode = 'BAD_REF' | 'BLOB_MISSING' | 'BLOB_CORRUPT' | 'STORE_FAILED';

/** Thrown by the stores. The message starts with the code and contains the reference, never a path or an address. */
export class ArtifactError extends Error {
  override readonly name = 'ArtifactError';
  readonly code: ArtifactErrorCode;

  constructor(code: ArtifactErrorCode, sentence: string, options?: { readonly cause?: unknown }) {
    super(`${code}: ${sentence}`, options);
    this.code = code;
  }
}

/** Parses a reference. Throws ArtifactError `BAD_REF`: references come from a model, and only a valid hash may become a path or a key. */
export function hashOfRef(ref: string): string {
  const hash = /^sha256:([0-9a-f]{64})$/u.exec(ref)?.[1];
  if (hash === undefined)
    throw new ArtifactError('BAD_REF', `${JSON.stringify(ref.slice(0, 80))} is not a reference; use sha256: followed by 64 hex digits`);
  return hash;
}

/** Creates the reference of a hash in hex. */
export function refOfHash(hash: string): string {
  return `sha256:${hash}`;
}
