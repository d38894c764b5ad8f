import { expect } from 'vitest';
import type { LoadedConfig } from '../../../src/worker/config/load-config.js';

/** What a person reads of a config that is refused. Fails when it is loaded, or fails in another way. */
export async function configProblems(load: Promise<LoadedConfig>): Promise<string> {
  const problem = await load.then(
    () => undefined,
    (error: Error) => error,
  );
  expect(problem).toMatchObject({ code: 'CONFIG', exitCode: 2 });
  return problem?.message ?? '';
}
