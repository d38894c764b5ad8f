/** What was kept: its reference and its size. */
export interface KeptArtifact {
  /** `sha256:` and the hash of the content in hex. */
  readonly ref: string;
  readonly bytes: number;
}

/** A piece of an artifact, and the size of the whole. */
export interface ArtifactPage {
  /** Fewer than asked for only at the end; empty when the offset lies behind it. */
  readonly bytes: Buffer;
  readonly size: number;
}

/**
 * An artifact that is being written.
 *
 * Contract: `write` is called again only after its promise resolved, and the bytes may then be changed; it and `finish` reject when the store fails, and then only
 * `discard` is left to do. `discard` removes what was not finished, may be called at any time and twice, and never rejects.
 */
export interface ArtifactWriter {
  write(piece: Uint8Array): Promise<void>;
  /** Makes it durable and readable, all at once. */
  finish(): Promise<KeptArtifact>;
  discard(): Promise<void>;
}

/**
 * Large outputs beside the transcript, named by the hash of their content: whoever knows a reference may read it, and nobody can guess one.
 *
 * Contract: any number of writers may run at the same time, also of the same content, also in other processes; memory does not grow
 * with an artifact's size; a writer whose process died leaves nothing that can be read.
 */
export interface ArtifactStore {
  put(): ArtifactWriter;
  /** Throws ArtifactError `BLOB_MISSING`, `BLOB_CORRUPT`, `BAD_REF` or `STORE_FAILED`; never gives bytes of a damaged artifact that was read whole. */
  read(ref: string, window: { readonly offset: number; readonly bytes: number }): Promise<ArtifactPage>;
}

/** Why an artifact cannot be read. `STORE_FAILED` says nothing about the artifact: it may be there. */
export type ArtifactErrorCode = 'BAD_REF' | 'BLOB_MISSING' | 'BLOB_CORRUPT' | 'STORE_FAILED';

/** Thrown by the stores; its message begins with the code and names the reference, never a path or an address. */
export class ArtifactError extends Error {
  override readonly name = 'ArtifactError';
  readonly code: ArtifactErrorCode;

  constructor(code: ArtifactErrorCode, sentence: string, options?: { readonly cause?: unknown }) {
    super(`${code}: ${sentence}`, options);
    this.code = code;
  }
}

/** The hash in a reference. Throws ArtifactError `BAD_REF`: a reference comes from a model, and only a hash may become a path or a key. */
export function hashOfRef(ref: string): string {
  const hash = /^sha256:([0-9a-f]{64})$/u.exec(ref)?.[1];
  if (hash === undefined)
    throw new ArtifactError('BAD_REF', `${JSON.stringify(ref.slice(0, 80))} is no reference; one is sha256: and 64 hex digits`);
  return hash;
}

/** The reference of a hash in hex. */
export function refOfHash(hash: string): string {
  return `sha256:${hash}`;
}
