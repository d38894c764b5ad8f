import { randomBytes, randomUUID } from 'node:crypto';
import { DeleteObjectCommand, ListMultipartUploadsCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { S3ArtifactStore } from '../../../src/artifacts/s3-artifact-store.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { createArtifactStore } from '../../../src/worker/storage/artifact-store.js';
import { claimsOfArtifactStores } from '../../artifacts/support/artifact-store-claims.js';
import { type S3Server, startS3Server } from './support/s3-server.js';

const REGION = 'us-east-1';
const MISSING = `sha256:${'0'.repeat(64)}`;

describe('S3ArtifactStore', () => {
  let server: S3Server;
  let client: S3Client;
  beforeAll(async () => {
    server = await startS3Server();
    const { endpoint, accessKeyId, secretAccessKey } = server;
    const credentials = { accessKeyId, secretAccessKey };
    client = new S3Client({ endpoint, region: REGION, forcePathStyle: true, credentials, requestChecksumCalculation: 'WHEN_REQUIRED' });
  });
  afterAll(async () => {
    client.destroy();
    await server.stop();
  });

  claimsOfArtifactStores(async () => {
    const prefix = `${randomUUID()}/`;
    const target = (ref: string) => ({ Bucket: server.bucket, Key: `${prefix}${ref.slice(7)}` });
    return {
      store: storeAt(prefix),
      another: () => storeAt(prefix),
      damage: async (ref, bytes) => void (await client.send(new PutObjectCommand({ ...target(ref), Body: bytes }))),
      remove: async (ref) => void (await client.send(new DeleteObjectCommand(target(ref)))),
      names: () => keysUnder(prefix),
    };
  });

  test('a large output leaves no upload and no other object behind, kept or discarded', async () => {
    const prefix = `${randomUUID()}/deep/er/`;
    const [kept, discarded] = [storeAt(prefix).put(), storeAt(prefix).put()];
    for (const writer of [kept, discarded]) await writer.write(randomBytes(11_000_000));
    const { ref } = await kept.finish();
    await discarded.discard();
    expect(await keysUnder(prefix)).toEqual([`${prefix}${ref.slice(7)}`]);
    const open = await client.send(new ListMultipartUploadsCommand({ Bucket: server.bucket, Prefix: prefix }));
    expect(open.Uploads ?? []).toEqual([]);
  });

  test('a wrong secret is STORE_FAILED, for nobody knows what is there', async () => {
    const { endpoint, bucket, accessKeyId } = server;
    const credentials = () => ({ accessKeyId, secretAccessKey: 'wrong' });
    const store = new S3ArtifactStore({ endpoint, bucket, region: REGION, credentials });
    await expect(store.read(MISSING, { offset: 0, bytes: 10 })).rejects.toMatchObject({ code: 'STORE_FAILED' });
    const writer = store.put();
    await writer.write(Buffer.from('x'));
    await expect(writer.finish()).rejects.toMatchObject({ name: 'SignatureDoesNotMatch' });
  });

  test('a server that is not there is STORE_FAILED, without its address', async () => {
    const store = new S3ArtifactStore({ endpoint: 'http://127.0.0.1:9', bucket: 'none', region: REGION, credentials: () => keys() });
    const failed = store.read(MISSING, { offset: 0, bytes: 10 });
    await expect(failed).rejects.toMatchObject({ code: 'STORE_FAILED', message: expect.not.stringContaining('127.0.0.1') });
  });

  test('the config names the bucket, and its keys by reference', async () => {
    const env = { ARTIFACTS_KEY: server.accessKeyId, ARTIFACTS_SECRET: server.secretAccessKey };
    const artifacts = {
      bucket: server.bucket,
      prefix: `${randomUUID()}/`,
      region: REGION,
      endpoint: server.endpoint,
      credentials: { accessKeyId: 'env:ARTIFACTS_KEY', secretAccessKey: 'env:ARTIFACTS_SECRET' },
    };
    const store = createArtifactStore({ config: { artifacts }, keys: captureKeys(env, Object.keys(env)) }, 'unused');
    expect(store).toBeInstanceOf(S3ArtifactStore);
    const { ref } = await store.put().finish();
    expect(await keysUnder(artifacts.prefix)).toEqual([`${artifacts.prefix}${ref.slice(7)}`]);
    const keyless = createArtifactStore({ config: { artifacts }, keys: captureKeys({}) }, 'unused');
    await expect(keyless.read(ref, { offset: 0, bytes: 1 })).rejects.toThrow('SECRET_MISSING env:ARTIFACTS_KEY');
  });

  test('an upload that fails in the middle fails the writer, and leaves nothing that can be read', async () => {
    const own = await startS3Server();
    onTestFinished(() => own.stop());
    const { endpoint, bucket, accessKeyId, secretAccessKey } = own;
    const store = new S3ArtifactStore({ endpoint, bucket, region: REGION, credentials: () => ({ accessKeyId, secretAccessKey }) });
    const writer = store.put();
    await writer.write(randomBytes(6_000_000));
    await own.stop();
    await expect(writer.write(randomBytes(6_000_000))).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await writer.discard();
  });

  function storeAt(prefix: string): S3ArtifactStore {
    const { endpoint, bucket } = server;
    return new S3ArtifactStore({ endpoint, bucket, prefix, region: REGION, credentials: keys });
  }

  function keys() {
    const { accessKeyId, secretAccessKey } = server;
    return { accessKeyId, secretAccessKey };
  }

  async function keysUnder(prefix: string): Promise<string[]> {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: server.bucket, Prefix: prefix }));
    return Contents.flatMap(({ Key }) => Key ?? []);
  }
});
