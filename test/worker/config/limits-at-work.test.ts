import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createPrepareRun } from '../../../src/activities/prepare/prepare-run.js';
import { CAPABILITY_LEVEL, TENANT_LEVEL } from '../../../src/contracts/capability-level.js';
import { ledgerId } from '../../../src/contracts/handlers.js';
import type { TenantStatus } from '../../../src/contracts/schemas/ledger.js';
import type { RunInput, RunResult } from '../../../src/contracts/schemas/run.js';
import { type LoadedConfig, loadConfig } from '../../../src/worker/config/load-config.js';
import { createAgentActivities } from '../../../src/worker/create-worker.js';
import { createTestWorker } from '../../support/test-worker.js';
import { until } from '../../support/use-workers.js';
import { useOwnedConnections } from '../support/owned-connections.js';

describe('a config with limits', { timeout: 60_000 }, () => {
  const owned = useOwnedConnections();
  let folder: string;
  let config: LoadedConfig;
  let model: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'perdure-limits-'));
    model = `scripted/${join(folder, 'script.yaml')}`;
    await writeFile(join(folder, 'script.yaml'), 'steps: [{ text: hello }]\n');
    const limits = { providers: { scripted: { callsAtOnce: 1, callsPerMinute: 100 } } };
    const tenants = { limits: { default: { maxRuns: 1 }, rich: { maxCostUsdPerDay: 5 } } };
    const agents = { unpriced: { description: 'Greets.', prompt: 'Greet.', budget: { allowUnknownPrice: true } } };
    await writeFile(join(folder, 'perdure.config.json'), JSON.stringify({ model, limits, tenants, agents }));
    config = await loadConfig({ cwd: folder, env: { XDG_CACHE_HOME: folder, OPENAI_API_KEY: 'k-0123456789' } });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('runs of a tenant pass both ledgers, in the shape that a worker of one’s own has', async () => {
    const taskQueue = `limits-${randomUUID()}`;
    const worker = await createTestWorker({
      connection: owned.nativeConnection,
      taskQueue,
      workflowBundle: { codePath: inject('workflowBundlePath') },
      activities: createAgentActivities({ config, stateDir: folder, searchAttributes: [] }),
    });
    owned.run(worker);
    const { workflow } = new Client({ connection: owned.connection });
    const start = (): Promise<WorkflowHandle> =>
      workflow.start('agentRun', { taskQueue, workflowId: randomUUID(), args: [{ task: 'greet', tenant: 'acme' } satisfies RunInput] });
    const runs = await Promise.all([start(), start()]);
    for (const run of runs) expect((await run.result()) as RunResult).toMatchObject({ reason: 'completed', output: 'hello' });
    const ledgers = [ledgerId('tenant', taskQueue, 'acme'), ledgerId('provider', taskQueue, 'scripted')].map((id) =>
      workflow.getHandle(id),
    );
    const [tenant] = ledgers;
    await until(async () => (await tenant?.query<TenantStatus>('status'))?.runs === 0, 'the end of both runs in the ledger');
    await until(async () => (await ledgers[1]?.query<{ workers: number }>('status'))?.workers === 0, 'the end of all calls in the ledger');
    expect(await tenant?.query('__temporal_workflow_metadata')).toMatchObject({
      currentDetails: '**Tenant acme**\n\n| | |\n|---|---|\n| Runs | 0 of 1 at once |\n| Waiting | none |\n',
    });
    await Promise.all(ledgers.map((ledger) => ledger.terminate()));
  });

  it('a run is prepared with the limits of its tenant only if its workflow code asks ledgers', async () => {
    const prepareRun = createPrepareRun({ ...config, configHash: config.hash, workspaceTools: [], searchAttributes: [] });
    const prepare = (input: Partial<RunInput>, level?: number) =>
      prepareRun({ runId: 'r', input: { task: 'greet', ...input }, ...(level === undefined ? {} : { level }) });
    expect((await prepare({ tenant: 'acme' }, CAPABILITY_LEVEL)).tenant).toEqual({ name: 'acme' });
    expect((await prepare({ tenant: 'acme' }, TENANT_LEVEL - 1)).tenant).toBeUndefined();
    expect((await prepare({ tenant: 'acme' })).tenant).toBeUndefined();
    expect((await prepare({}, CAPABILITY_LEVEL)).tenant).toBeUndefined();
    expect((await prepare({}, CAPABILITY_LEVEL)).route).toMatchObject([{ model, limited: true }]);
    const unpriced = { tenant: 'rich', model: 'openai/unheard-of' };
    // only the config may allow an unknown price where the money of a tenant is limited
    await expect(prepare({ ...unpriced, allowUnknownPrice: true }, CAPABILITY_LEVEL)).rejects.toMatchObject({
      type: 'Input.Invalid',
      message: expect.stringMatching(
        /^UNKNOWN_PRICE: maxCostUsdPerDay of the tenant needs the price of openai\/unheard-of, .*, or set budget\.allowUnknownPrice of the agent$/u,
      ),
    });
    expect((await prepare({ ...unpriced, agent: 'unpriced' }, CAPABILITY_LEVEL)).tenant).toEqual({ name: 'rich', limitsCost: true });
  });
});
