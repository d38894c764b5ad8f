import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { TestRun } from '../use-workers.js';

/**
 * The error of a tree that does not end: the runs at work, what each waits for, and the folder with the newest history of each. Without them, a
 * hang that needs a busy machine cannot be explained afterwards.
 */
export async function stuckTree({ workflow }: Client, live: readonly TestRun[]): Promise<Error> {
  const folder = await mkdtemp(join(tmpdir(), 'perdure-stuck-tree-'));
  const lines = await Promise.all(
    live.map(async ({ runId }) => {
      const handle = workflow.getHandle(runId);
      const history = await handle.fetchHistory();
      await writeFile(join(folder, `${runId.replaceAll('/', '_')}.json`), historyToJSON(history));
      const waits = await handle.query<{ status?: string; waitingFor?: string }>('progress').catch(() => undefined);
      return `${runId}: ${history.events?.length ?? 0} events, ${waits?.status ?? 'no answer'}, waits for ${waits?.waitingFor ?? 'nothing'}`;
    }),
  );
  return new Error(`the tree did not end; its histories are in ${folder}\n${lines.join('\n')}`);
}
