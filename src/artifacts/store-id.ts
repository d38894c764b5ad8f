import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { unlessMissing } from '../contracts/files/file-errors.js';
import { ArtifactError } from './artifact-store.js';
import { createFileOnce } from './durable-file.js';
import { type S3Access, statusOf } from './s3-access.js';

/** The name of the file or object that holds the id of a store. */
export const STORE_ID_NAME = 'store-id';

const ID = /^[0-9a-f]{16}$/u;
const PRECONDITION_FAILED = 412;
const NOT_IMPLEMENTED = 501;

/** Age from which an id is that of all its creators: some servers check the condition of a write too early, or not at all. */
const SETTLED_MS = 2_000;
const SETTLE_READS_MAX = 10;

/**
 * The random id of a folder, which the first caller creates: all hosts that mount the folder read the same one, and no other folder has
 * it. The folder must exist. Throws ArtifactError `STORE_FAILED` if it cannot be read or written.
 */
export async function idOfFolder(folder: string): Promise<string> {
  const path = join(folder, STORE_ID_NAME);
  try {
    const known = await readFile(path, 'utf8').catch(unlessMissing);
    if (known !== undefined) return checkedId(known);
    await createFileOnce(path, newId());
    return checkedId(await readFile(path, 'utf8'));
  } catch (error) {
    throw asStoreError(error);
  }
}

/** Like `idOfFolder`, for the keys below the prefix of a bucket. The first calls for a new bucket take some seconds. */
export async function idOfBucket(access: S3Access): Promise<string> {
  try {
    let found = await readId(access).catch(async (error: unknown) => {
      if (!mayBeMissing(error)) throw error;
      await writeId(access);
      return await readId(access);
    });
    for (let reads = 0; found.isNew && reads < SETTLE_READS_MAX; reads += 1) {
      await pause(SETTLED_MS / 4);
      found = await readId(access);
    }
    return found.id;
  } catch (error) {
    throw asStoreError(error);
  }
}

async function readId({ sdk, client, bucket, prefix }: S3Access): Promise<{ readonly id: string; readonly isNew: boolean }> {
  const { Body, LastModified } = await client.send(new sdk.GetObjectCommand({ Bucket: bucket, Key: `${prefix}${STORE_ID_NAME}` }));
  const id = checkedId((await Body?.transformToString()) ?? '');
  return { id, isNew: LastModified !== undefined && Math.abs(Date.now() - LastModified.getTime()) < SETTLED_MS };
}

async function writeId({ sdk, client, bucket, prefix }: S3Access): Promise<void> {
  const object = { Bucket: bucket, Key: `${prefix}${STORE_ID_NAME}`, Body: newId() };
  try {
    await client.send(new sdk.PutObjectCommand({ ...object, IfNoneMatch: '*' }));
  } catch (error) {
    // another worker was faster
    if (statusOf(error) === PRECONDITION_FAILED) return;
    if (statusOf(error) !== NOT_IMPLEMENTED) throw error;
    await client.send(new sdk.PutObjectCommand(object));
  }
}

/** Without the permission to list a bucket, S3 answers 403 for an object that is missing. A missing bucket is another error. */
function mayBeMissing(error: unknown): boolean {
  const isMissing = statusOf(error) === 404 && !(error instanceof Error && error.name === 'NoSuchBucket');
  return isMissing || (statusOf(error) === 403 && error instanceof Error && error.name === 'AccessDenied');
}

function newId(): string {
  return randomBytes(8).toString('hex');
}

function checkedId(text: string): string {
  const id = text.trim();
  if (ID.test(id)) return id;
  throw new ArtifactError('STORE_FAILED', `its ${STORE_ID_NAME} is damaged; delete it and restart all workers`);
}

function asStoreError(error: unknown): ArtifactError {
  if (error instanceof ArtifactError) return error;
  const reason = error instanceof Error ? ('code' in error ? String(error.code) : error.name) : String(error);
  return new ArtifactError('STORE_FAILED', reason, { cause: error });
}
