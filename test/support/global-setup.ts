import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import type { TestProject } from 'vitest/node';
import { SEARCH_ATTRIBUTES } from '../../src/contracts/search-attributes.js';
import { resolveTemporalBinary } from '../../src/worker/temporal/binary.js';
import { buildWhenStale, builtWorkflowBundle } from './built-package.js';
import { freePort } from './free-port.js';
import { endProcess } from './local-process.js';

declare module 'vitest' {
  interface ProvidedContext {
    temporalAddress: string;
    temporalBinary: string;
    workflowBundlePath: string;
  }
}

/** A fresh build of the package, with its workflow bundle, and one real Temporal server for the whole test run; the server is gone afterwards. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'perdure-test-'));
  const binary = await resolveTemporalBinary({ say: (line) => console.log(line) });
  const port = await freePort();
  const server = startServer(binary, port, folder);
  await Promise.all([buildWhenStale(), answering(`127.0.0.1:${port}`)]);
  project.provide('temporalAddress', `127.0.0.1:${port}`);
  project.provide('temporalBinary', binary);
  project.provide('workflowBundlePath', builtWorkflowBundle());
  return async () => {
    await endProcess(server);
    await rm(folder, { recursive: true, force: true });
  };
}

function startServer(binary: string, port: number, folder: string): ChildProcess {
  const attributes = Object.entries(SEARCH_ATTRIBUTES).flatMap(([name, type]) => ['--search-attribute', `${name}=${TYPE_NAMES[type]}`]);
  const dynamic = [
    'history.transferProcessorMaxPollRPS=10000',
    'system.enableActivityEagerExecution=true',
    'history.MaxBufferedQueryCount=100',
    'matching.numTaskqueueReadPartitions=1',
    'matching.numTaskqueueWritePartitions=1',
  ];
  const args = ['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--headless', '--log-level', 'error'];
  args.push('--db-filename', join(folder, 'temporal.db'), '--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL');
  for (const value of dynamic) args.push('--dynamic-config-value', value);
  return spawn(binary, [...args, ...attributes], { stdio: 'ignore' });
}

const TYPE_NAMES = { KEYWORD: 'Keyword', DOUBLE: 'Double', INT: 'Int' } as const;

async function answering(address: string): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: 30_000 });
  await connection.close();
}
