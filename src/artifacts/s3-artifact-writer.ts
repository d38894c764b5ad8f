import { createHash, randomUUID } from 'node:crypto';
import type { CompletedPart } from '@aws-sdk/client-s3';
import { ARTIFACT_LIMITS } from '../contracts/constants/limits.js';
import { type ArtifactWriter, type KeptArtifact, refOfHash } from './artifact-store.js';
import type { S3Access } from './s3-access.js';

/** A multipart upload under a temporary key, because the hash is known only at the end. */
interface Upload {
  readonly key: string;
  readonly id: string;
  readonly parts: CompletedPart[];
}

/** Writes an artifact to S3 with one part in memory. Content that fits into one part is sent as one object. */
export class S3ArtifactWriter implements ArtifactWriter {
  readonly #open: () => Promise<S3Access>;
  readonly #hash = createHash('sha256');
  /** The buffer of the current part. Grows up to the size of a part. */
  #part = Buffer.alloc(0);
  #partBytes = 0;
  #bytes = 0;
  #upload: Upload | undefined;

  constructor(open: () => Promise<S3Access>) {
    this.#open = open;
  }

  async write(piece: Uint8Array): Promise<void> {
    this.#hash.update(piece);
    this.#bytes += piece.length;
    for (let at = 0; at < piece.length; ) {
      const taken = piece.subarray(at, at + ARTIFACT_LIMITS.uploadPartBytes - this.#partBytes);
      this.#keep(taken);
      at += taken.length;
      if (this.#partBytes === ARTIFACT_LIMITS.uploadPartBytes) await this.#sendPart();
    }
  }

  async finish(): Promise<KeptArtifact> {
    const hash = this.#hash.digest('hex');
    const kept = { ref: refOfHash(hash), bytes: this.#bytes };
    const { sdk, client, bucket, prefix } = await this.#open();
    const [Bucket, Key] = [bucket, `${prefix}${hash}`];
    if (!this.#upload) {
      await client.send(new sdk.PutObjectCommand({ Bucket, Key, Body: this.#takePart() }));
      return kept;
    }
    if (this.#partBytes > 0) await this.#sendPart();
    const { key, id, parts } = this.#upload;
    await client.send(new sdk.CompleteMultipartUploadCommand({ Bucket, Key: key, UploadId: id, MultipartUpload: { Parts: parts } }));
    await client.send(new sdk.CopyObjectCommand({ Bucket, Key, CopySource: `${bucket}/${encodeURI(key)}` }));
    await client.send(new sdk.DeleteObjectCommand({ Bucket, Key: key }));
    this.#upload = undefined;
    return kept;
  }

  async discard(): Promise<void> {
    const upload = this.#upload;
    this.#upload = undefined;
    if (!upload) return;
    const { sdk, client, bucket } = await this.#open();
    // a failed abort is left to the lifecycle rule of the bucket for incomplete uploads
    const target = { Bucket: bucket, Key: upload.key };
    await Promise.allSettled([
      client.send(new sdk.AbortMultipartUploadCommand({ ...target, UploadId: upload.id })),
      client.send(new sdk.DeleteObjectCommand(target)),
    ]);
  }

  async #sendPart(): Promise<void> {
    const { sdk, client, bucket } = await this.#open();
    this.#upload ??= await this.#begin();
    const { key, id, parts } = this.#upload;
    const PartNumber = parts.length + 1;
    const Body = this.#takePart();
    const sent = await client.send(new sdk.UploadPartCommand({ Bucket: bucket, Key: key, UploadId: id, PartNumber, Body }));
    parts.push({ PartNumber, ...(sent.ETag === undefined ? {} : { ETag: sent.ETag }) });
  }

  async #begin(): Promise<Upload> {
    const { sdk, client, bucket, prefix } = await this.#open();
    const key = `${prefix}unfinished/${randomUUID()}`;
    const { UploadId = '' } = await client.send(new sdk.CreateMultipartUploadCommand({ Bucket: bucket, Key: key }));
    return { key, id: UploadId, parts: [] };
  }

  #keep(bytes: Uint8Array): void {
    const needed = this.#partBytes + bytes.length;
    if (needed > this.#part.length) {
      const larger = Buffer.alloc(Math.min(ARTIFACT_LIMITS.uploadPartBytes, Math.max(needed, 2 * this.#part.length)));
      this.#part.copy(larger, 0, 0, this.#partBytes);
      this.#part = larger;
    }
    this.#part.set(bytes, this.#partBytes);
    this.#partBytes = needed;
  }

  #takePart(): Buffer {
    const body = this.#part.subarray(0, this.#partBytes);
    this.#partBytes = 0;
    return body;
  }
}
