import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type WorkerOptions } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/worker/config/load-config.js';
import { PerdurePlugin } from '../../../src/worker/plugin.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const IGNORE = (): void => undefined;
const SILENT = { log: IGNORE, trace: IGNORE, debug: IGNORE, info: IGNORE, warn: IGNORE, error: IGNORE };
const OWN = 'export async function own() {}\n';
const AGENT = "export { agentRun } from 'perdure/workflows';\n";

describe('D5: a bundle with PerdurePlugin', () => {
  let folder: string;
  let plugin: PerdurePlugin;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'perdure-export-'));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    await mkdir(join(folder, 'node_modules'));
    await symlink(ROOT, join(folder, 'node_modules', 'perdure'));
    await symlink(join(ROOT, 'node_modules', '@temporalio'), join(folder, 'node_modules', '@temporalio'));
    const config = await loadConfig({ cwd: folder, env: { XDG_CACHE_HOME: folder } });
    plugin = new PerdurePlugin({ config, stateDir: folder, searchAttributes: [] });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each([
    ['is missing', { 'a.mjs': OWN }],
    [
      'is imported and not exported',
      { 'a.mjs': `import { agentRun } from 'perdure/workflows';\n${OWN}export const name = agentRun.name;\n` },
    ],
    ['is missing in a CommonJS file', { 'a.cjs': 'exports.own = async () => undefined;\n' }],
  ])('is refused when the agent workflow %s', async (_, files) => {
    const path = await write(files);
    await expect(bundle(path)).rejects.toMatchObject({
      code: 'NO_AGENT_RUN',
      message: `${path} does not export the workflow agentRun, so no run could start. Add: export { agentRun } from 'perdure/workflows'`,
    });
  });

  it.each([
    ['an export', { 'b.mjs': AGENT + OWN }],
    ['an export of everything', { 'b.mjs': "export * from './agent.mjs';\n", 'agent.mjs': AGENT }],
    ['CommonJS', { 'b.cjs': "exports.agentRun = require('perdure/workflows').agentRun;\n" }],
    ['a default export, which runs each workflow without an export of its own', { 'b.mjs': 'export default async function any() {}\n' }],
  ])('is made from %s', async (_, files) => {
    expect((await bundle(await write(files))).code.length).toBeGreaterThan(0);
  });

  it.each([
    ['tenantLedger', 'tenants', { tenants: { limits: { acme: { maxRuns: 1 } } } }],
    ['providerLedger', 'providers', { limits: { providers: { openai: { callsAtOnce: 1 } } } }],
  ])('with limits in the config needs %s too', async (workflow, what, limits) => {
    const config = { ...(await loadConfig({ cwd: folder, env: { XDG_CACHE_HOME: folder } })), config: limits };
    const limited = new PerdurePlugin({ config, stateDir: folder, searchAttributes: [] });
    const make = (workflowsPath: string) => bundleWorkflowCode({ workflowsPath, plugins: [limited], logger: SILENT });
    const path = await write({ 'd.mjs': AGENT + OWN });
    await expect(make(path)).rejects.toMatchObject({
      code: 'NO_LEDGER',
      message: `${path} does not export the workflow ${workflow}, so the limits of ${what} would stop all their runs. Add: export { ${workflow} } from 'perdure/workflows'`,
    });
    await expect(make(await write({ 'e.mjs': `export { agentRun, ${workflow} } from 'perdure/workflows';\n` }))).resolves.toBeDefined();
    await expect(limited.configureWorker({ taskQueue: 'q', workflowBundle: { code: 'agentRun' } })).rejects.toMatchObject({
      code: 'NO_LEDGER',
    });
  });

  it('keeps the hook of its user, and the error of the bundler for a file that cannot be bundled', async () => {
    let hooked = 0;
    const webpackConfigHook = <Config>(config: Config): Config => {
      hooked += 1;
      return config;
    };
    const workflowsPath = await write({ 'c.mjs': "export { agentRun } from './nowhere.mjs';\n" });
    await expect(bundleWorkflowCode({ workflowsPath, webpackConfigHook, plugins: [plugin], logger: SILENT })).rejects.toThrow(
      'Webpack finished',
    );
    expect(hooked).toBe(1);
  });

  it('made without the plugin and without the agent workflow is refused when the worker is configured', async () => {
    const options = { taskQueue: 'q', workflowBundle: { code: 'const nothing = 1;' } };
    await expect(plugin.configureWorker(options)).rejects.toMatchObject({ code: 'NO_AGENT_RUN' });
    const codePath = await write({ 'bundle.js': 'agentRun: () => agentRun' });
    // without a queue, no server is asked about it
    expect(await plugin.configureWorker({ workflowBundle: { codePath } } as WorkerOptions)).toMatchObject({ workflowBundle: { codePath } });
  });

  /** Writes files and gives the path of the first one. */
  async function write(files: Readonly<Record<string, string>>): Promise<string> {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    return join(folder, Object.keys(files)[0] ?? '');
  }

  function bundle(workflowsPath: string): Promise<{ code: string }> {
    return bundleWorkflowCode({ workflowsPath, plugins: [plugin], logger: SILENT });
  }
});
