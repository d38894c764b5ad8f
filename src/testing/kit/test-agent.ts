import type { JsonValue } from '../../contracts/schemas/message.js';
import type { TestAgentOptions, TestedRun } from './tested-run.js';

/**
 * Runs an agent once with a scripted model, and returns all that it did. Everything else is real: the workflow code, a Temporal server, a
 * worker in this process, and the tools. Needs no key and no network: `env` replaces the environment of the providers.
 *
 * Each call has a worker, a task queue and a state folder of its own, so that tests may run in parallel. Rejects with PerdureError
 * `CONFIG`, `BAD_SCRIPT`, `BAD_OPTION` or `UNKNOWN_AGENT` (2) before a run starts, and `TEST_TIMEOUT` (1) for a run that does not end.
 */
export async function testAgent<Structured = JsonValue>(options: TestAgentOptions<Structured>): Promise<TestedRun<Structured>> {
  // loaded here, because scripts and wire servers need no Temporal worker
  const { runTestedAgent } = await import('./run-tested-agent.js');
  return await runTestedAgent(options);
}
