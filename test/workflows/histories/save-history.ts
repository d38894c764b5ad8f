import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { AgentWorker } from '../../support/agent-worker.js';
import { type TestRun, until } from '../../support/use-workers.js';

type History = Parameters<typeof historyToJSON>[0];

/** Writes histories of one release beside this file, for the replay test. */
export function historySaver(version: string) {
  const write = (name: string, history: History): Promise<void> =>
    writeFile(
      fileURLToPath(new URL(`./${version}-${name}.json`, import.meta.url)),
      `${JSON.stringify(JSON.parse(historyToJSON(history), withoutStack))}\n`,
    );
  return {
    write,
    /** The history of a run once it has ended, however it did. */
    save: async (name: string, run: TestRun): Promise<void> => {
      await run.result().catch(() => undefined);
      await write(name, await run.handle.fetchHistory());
    },
    /** Fills the history of a run that waits with signals that change nothing, until it goes on in a fresh one; writes the full one. */
    fill: async (name: string, on: AgentWorker, run: TestRun, signal: 'resume' | 'pause' = 'resume'): Promise<void> => {
      const first = (await run.handle.describe()).runId;
      await until(async () => {
        await run.handle.signal(signal);
        return (await run.handle.describe()).runId !== first;
      }, 'the next history');
      await write(name, await on.client.workflow.getHandle(run.runId, first).fetchHistory());
    },
  };
}

/** Stack traces hold paths of the machine that recorded them, and replaying does not read them. */
function withoutStack(key: string, value: unknown): unknown {
  return key === 'stackTrace' ? undefined : value;
}
