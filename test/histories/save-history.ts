import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { TestRun } from '../support/use-workers.js';

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
  };
}

/** Stack traces hold paths of the machine that recorded them, and replaying does not read them. */
function withoutStack(key: string, value: unknown): unknown {
  return key === 'stackTrace' ? undefined : value;
}
