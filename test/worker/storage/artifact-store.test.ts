import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { S3ArtifactStore } from '../../../src/artifacts/s3-artifact-store.js';
import { type LoadedConfig, loadConfig } from '../../../src/worker/config/load-config.js';
import { stateFolder } from '../../../src/worker/state-folder/state-folder.js';
import { createArtifactStore } from '../../../src/worker/storage/artifact-store.js';
import { payloadStoreOf } from '../../../src/worker/storage/payload-store.js';
import { useTempFolder } from '../../support/temp-folder.js';

describe('createArtifactStore', () => {
  const folder = useTempFolder('perdure-artifact-config-');

  it('without a bucket artifacts are files of the state folder, where another worker of the folder reads them', async () => {
    const config = await load('{}');
    const writer = createArtifactStore(config, folder.path).put();
    await writer.write(Buffer.from('kept'));
    const { ref } = await writer.finish();
    const page = await createArtifactStore(config, folder.path).read(ref, { offset: 0, bytes: 10 });
    expect(page.bytes.toString()).toBe('kept');
    expect(stateFolder(folder.path).outputs.startsWith(stateFolder(folder.path).artifacts)).toBe(true);
  });

  it('with a bucket they are in S3, and the keys that the config names leave the environment', async () => {
    const env = { MY_ID: 'id', MY_SECRET: 'secret', AWS_REGION: 'eu-central-1', XDG_CACHE_HOME: folder.path };
    const credentials = `{ accessKeyId: 'env:MY_ID', secretAccessKey: 'env:MY_SECRET' }`;
    const config = await load(`{ artifacts: { bucket: 'outputs', endpoint: 'https://s3.example.com', credentials: ${credentials} } }`, env);
    expect(createArtifactStore(config, folder.path)).toBeInstanceOf(S3ArtifactStore);
    expect(Object.keys(env)).toEqual(['AWS_REGION', 'XDG_CACHE_HOME']);
  });

  it('C1: with a folder they are files there, beside the large payloads, and tools of a workspace cannot change it', async () => {
    const shared = join(folder.path, 'shared');
    await mkdir(shared);
    await symlink(shared, join(folder.path, 'mounted'));
    const config = await load(`{ artifacts: { folder: ${JSON.stringify(join(folder.path, 'mounted'))} } }`);
    const writer = createArtifactStore(config, join(folder.path, 'state')).put();
    await writer.write(Buffer.from('kept'));
    await writer.finish();
    await payloadStoreOf(config, join(folder.path, 'state')).blobs.put(Buffer.from('stored'));
    expect((await readdir(shared)).toSorted()).toEqual(['blobs', 'outputs']);
    expect(config.protected).toContain(shared);
  });

  it.each([
    [`{ folder: 'shared' }`, 'artifacts.folder: an absolute path is needed, got "shared"'],
    [`{ folder: '/shared', prefix: 'a/' }`, 'artifacts.prefix: unknown'],
    [`{ foldr: '/shared' }`, 'artifacts.foldr: unknown (did you mean folder?)'],
    [`{ bucket: 'outputs', endpoint: 'http://s3.example.com' }`, 'artifacts.endpoint: plain http to another machine'],
    [`{ bucket: 'outputs', endpoint: 's3.example.com' }`, 'artifacts.endpoint: not a URL'],
    [`{ bucket: 'outputs', prefx: 'a/' }`, 'artifacts.prefx: unknown (did you mean prefix?)'],
    [`{ prefix: 'a/' }`, 'artifacts.bucket: '],
    [
      `{ bucket: 'outputs', credentials: { accessKeyId: 'AKIA', secretAccessKey: 'env:S' } }`,
      'artifacts.credentials.accessKeyId: a reference like',
    ],
  ])('artifacts %s are refused with their place', async (artifacts, part) => {
    await expect(load(`{ artifacts: ${artifacts} }`)).rejects.toMatchObject({ code: 'CONFIG', message: expect.stringContaining(part) });
  });

  async function load(config: string, env: NodeJS.ProcessEnv = { XDG_CACHE_HOME: folder.path }): Promise<LoadedConfig> {
    await writeFile(join(folder.path, 'perdure.config.mjs'), `export default ${config};`);
    return loadConfig({ cwd: folder.path, env });
  }
});
