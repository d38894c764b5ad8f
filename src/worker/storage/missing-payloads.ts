import type { ConnectionLike } from '@temporalio/client';
import { HOSTING_LIMITS } from '../../contracts/constants/limits.js';
import { MissingBlobError } from './blob-store.js';
import { storedRef } from './large-payload-codec.js';
import type { PayloadStore } from './payload-store.js';

/** Where to look for open runs, and whom to tell. */
export interface MissingPayloadsOptions {
  readonly connection: ConnectionLike;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly say: (line: string) => void;
}

/**
 * Reports open runs of a queue whose input or carried state is a blob that the store of a new worker does not have: their first worker had
 * another store, and no longer polls. Such a run waits with `BLOB_MISSING`, and the other runs work, so that the worker starts. Looks at
 * the newest runs only. Never rejects.
 */
export async function reportMissingPayloads(options: MissingPayloadsOptions, { blobs, place }: PayloadStore): Promise<void> {
  const { connection, namespace, taskQueue, say } = options;
  const query = `TaskQueue = ${JSON.stringify(taskQueue)} AND ExecutionStatus = "Running"`;
  const asked = { namespace, query, pageSize: HOSTING_LIMITS.missingPayloadRuns };
  // a server without visibility, or without the right to it, has other ways to tell
  const { executions } = await connection.workflowService.listWorkflowExecutions(asked).catch(() => ({ executions: [] }));
  for (const { execution } of executions) {
    const refs = await firstRefs(connection, { namespace, execution: execution ?? null, maximumPageSize: 1 });
    const missing = await Promise.all(refs.map(async (ref) => await blobs.get(ref).then(() => false, isMissing)));
    if (!missing.includes(true)) continue;
    say(
      `run ${execution?.workflowId ?? ''} needs a large payload that is not in ${place}: a worker with another store wrote it. ` +
        'The run waits until such a worker polls the queue. Set artifacts in both configs to one bucket or shared folder',
    );
  }
}

type HistoryRequest = Parameters<ConnectionLike['workflowService']['getWorkflowExecutionHistory']>[0];

/** The blobs of the input of an execution, and of the state that an earlier one left to it. */
async function firstRefs(connection: ConnectionLike, request: HistoryRequest): Promise<readonly string[]> {
  const { history } = await connection.workflowService.getWorkflowExecutionHistory(request).catch(() => ({ history: null }));
  const [first] = history?.events ?? [];
  const payloads = first?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  return payloads.flatMap((payload) => storedRef(payload) ?? []);
}

function isMissing(error: unknown): boolean {
  return error instanceof MissingBlobError;
}
