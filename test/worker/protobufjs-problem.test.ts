import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { protobufjsProblem } from '../../src/worker/storage/payload-converter.js';

const INSTALLED = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** What the SDK does with each payload that goes to external storage. */
const STORE = `
const { StorageDriverClaim } = require('@temporalio/common');
const { encodeReferencePayload } = require('@temporalio/common/lib/internal-non-workflow/extstore-helpers.js');
const { data } = encodeReferencePayload({ driverName: 'files', claim: new StorageDriverClaim({ ref: 'r' }), sizeBytes: 1 });
console.log(new TextDecoder().decode(data));
`;

describe('protobufjsProblem', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'perdure-install-'));
    await mkdir(join(folder, 'node_modules', '@temporalio'), { recursive: true });
    for (const name of ['@temporalio/common', '@temporalio/proto', 'protobufjs'])
      await cp(join(INSTALLED, name), join(folder, 'node_modules', name), { recursive: true });
    for (const name of ['long', 'ms', 'nexus-rpc']) await symlink(join(INSTALLED, name), join(folder, 'node_modules', name));
    await writeFile(join(folder, 'store.cjs'), STORE);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('this installation has one copy, and stores', async () => {
    expect(protobufjsProblem()).toBeUndefined();
    expect(await store()).toContain('"driverName":"files"');
  });

  it('a second copy makes every store fail, and is told with what to do before anything is stored', async () => {
    const second = join(folder, 'node_modules', '@temporalio', 'common', 'node_modules', 'protobufjs');
    await cp(join(INSTALLED, 'protobufjs'), second, { recursive: true });
    await expect(store()).rejects.toThrow('type must be a Type');
    expect(protobufjsProblem(pathToFileURL(join(folder, 'store.cjs')))).toMatch(/two copies of protobufjs .*"overrides"/u);
  });

  async function store(): Promise<string> {
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'store.cjs')], { env: {} });
    return stdout;
  }
});
