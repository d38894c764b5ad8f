import { type ChildProcess, spawn } from 'node:child_process';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { DEFAULT_TASK_QUEUE } from '../../../src/contracts/handlers.js';
import { loadConfig } from '../../../src/worker/config/load-config.js';
import { PerdurePlugin } from '../../../src/worker/plugin.js';
import { builtCli } from '../../support/built-package.js';
import { endProcess, namedProgram } from '../../support/local-process.js';
import { createTestWorker } from '../../support/test-worker.js';
import { until } from '../../support/use-workers.js';
import { useOwnedConnections } from '../../worker/support/owned-connections.js';

const EXAMPLE = fileURLToPath(new URL('../../../examples/python-service/', import.meta.url));

describe('D3: a service in Python', () => {
  const owned = useOwnedConnections();
  let folder: string;
  let service: ChildProcess | undefined;
  beforeEach(async () => {
    folder = join(owned.folder, 'service');
    await cp(EXAMPLE, folder, { recursive: true, filter: (path) => !/\/(?:\.venv|\.perdure|summary\.txt)$/u.test(path) });
    const loaded = await loadConfig({ cwd: folder, env: {} });
    // `perdure dev` runs in this folder, the test does not
    const config = { ...loaded, config: { ...loaded.config, model: `scripted/${join(folder, 'answers.yaml')}` } };
    const plugin = new PerdurePlugin({
      config,
      stateDir: join(folder, '.perdure'),
      searchAttributes: [],
      // as at the embedded server
      requireSignatures: true,
    });
    owned.run(
      await createTestWorker({
        connection: owned.nativeConnection,
        taskQueue: DEFAULT_TASK_QUEUE,
        workflowBundle: { codePath: inject('workflowBundlePath') },
        plugins: [plugin],
      }),
    );
  });
  afterEach(async () => {
    if (service) await endProcess(service);
  });

  it('starts, queries, steers, approves with a signature, and reads the result; killed in between, it continues', async () => {
    const first = await serve();
    expect(await first.post('/runs', { id: 'py1', task: 'Summarise the orders.' })).toEqual([202, { id: 'py1', duplicate: false }]);
    expect(await first.post('/runs', { id: 'py1', task: 'Summarise the orders.' })).toEqual([200, { id: 'py1', duplicate: true }]);
    await until(async () => (await first.pending()).length === 1, 'the approval');
    expect(await first.get('/runs/py1')).toMatchObject([200, { status: 'waiting', pendingApprovals: 1 }]);
    expect(await first.post('/runs/py1/messages', { text: 'Thank you.' })).toEqual([202, {}]);
    service?.kill('SIGKILL');

    const second = await serve();
    const [{ callId, tool } = { callId: '', tool: '' }] = await second.pending();
    expect(tool).toBe('write_file');
    await expect(approveUnsigned(callId)).rejects.toMatchObject({ cause: { message: expect.stringContaining('sign') } });
    const approval = `/runs/py1/approvals/${callId}`;
    expect(await second.post(approval, { decision: 'approve', by: 'ada' })).toMatchObject([200, { decision: 'approved', by: 'ada' }]);
    expect(await second.post(approval, { decision: 'deny', by: 'bob' })).toMatchObject([409, { message: expect.stringContaining('ada') }]);
    const output = 'The summary is in summary.txt. You also wrote: Thank you.';
    expect(await second.get('/runs/py1/result')).toMatchObject([200, { reason: 'completed', output }]);
    expect(await readFile(join(folder, 'notes', 'summary.txt'), 'utf8')).toBe('Two orders are open.\n');

    await second.post('/runs', { id: 'py2', task: 'Summarise the orders.' });
    expect(await second.post('/runs/py2/cancel', {})).toEqual([202, {}]);
    expect(await second.get('/runs/py2/result')).toMatchObject([200, { reason: 'cancelled' }]);
    await second.post('/runs', { id: 'py3', task: 'Something else, which the script refuses.' });
    expect(await second.get('/runs/py3/result')).toMatchObject([200, { v: 1, runId: 'py3', reason: 'error' }]);

    expect(await second.post('/runs', { id: 'py4' })).toMatchObject([400, { message: expect.stringContaining('task') }]);
    expect(await second.post(approval, { decision: 'extend', by: 'bob' })).toMatchObject([400, {}]);
    expect(await second.get('/runs/none')).toMatchObject([404, {}]);
    expect(await second.post('/runs', { id: 'py4', task: 'x' }, 'text/plain')).toMatchObject([415, {}]);
  });

  /** Starts the service, and calls it. */
  async function serve() {
    const python = namedProgram('PERDURE_TEST_PYTHON', 'a Python that has the package temporalio', 'pip install temporalio');
    const env = {
      PATH: process.env['PATH'],
      HOME: folder,
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      PERDURE_SIGN: `'${process.execPath}' '${builtCli()}' sign`,
    };
    const started = spawn(python, ['service.py', '0'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] });
    service = started;
    let printed = '';
    started.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
    await until(() => {
      if (started.exitCode !== null) throw new Error(`the service ended with ${started.exitCode}`);
      return printed.includes('\n');
    }, 'the service');
    const url = printed.trim().split(' ').at(-1) ?? '';
    const ask = async (path: string, init: RequestInit = {}): Promise<[status: number, body: unknown]> => {
      const response = await fetch(url + path, init);
      return [response.status, await response.json()];
    };
    return {
      get: ask,
      post: (path: string, body: object, type = 'application/json') =>
        ask(path, { method: 'POST', headers: { 'content-type': type }, body: JSON.stringify(body) }),
      pending: async () => {
        const [status, body] = await ask('/runs/py1/approvals');
        return status === 200 ? (body as { callId: string; tool: string }[]) : [];
      },
    };
  }

  function approveUnsigned(callId: string): Promise<unknown> {
    const run = new Client({ connection: owned.connection }).workflow.getHandle('py1');
    return run.executeUpdate('approve', { args: [{ callId }] });
  }
});
