import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { resolveTemporalBinary } from '../../src/worker/temporal/binary.js';
import { buildWhenStale, builtWorkflowBundle } from './built-package.js';
import { freePort } from './free-port.js';
import { endProcess } from './local-process.js';
import { startTemporalServer, untilAnswering } from './temporal-server.js';

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
  const server = startTemporalServer({ binary, port, folder });
  try {
    await Promise.all([buildWhenStale(), untilAnswering(server, `127.0.0.1:${port}`)]);
  } catch (error) {
    await endProcess(server);
    throw error;
  }
  project.provide('temporalAddress', `127.0.0.1:${port}`);
  project.provide('temporalBinary', binary);
  project.provide('workflowBundlePath', builtWorkflowBundle());
  return async () => {
    await endProcess(server);
    await rm(folder, { recursive: true, force: true });
  };
}
