import type { ConnectionLike } from '@temporalio/client';
import { HOSTING_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { MissingBlobError } from './blob-store.js';
import { storedRef } from './large-payload-codec.js';
import type { PayloadStore } from './payload-store.js';
import { nameOfWorker, storeIdOf } from './queue-store.js';

/** Where to look for open runs, and for whom. */
export interface MissingPayloadsOptions {
  readonly connection: ConnectionLike;
  readonly namespace: string;
  readonly taskQueue: string;
  /** The identity of the new worker, with the id of its store. Absent: it is the only host of its server, and is never refused. */
  readonly identity?: string | undefined;
  /** @default nobody is told */
  readonly say?: ((line: string) => void) | undefined;
}

/**
 * Looks for open runs of a queue whose input or carried state is a blob that the store of a new worker does not have. Such a run waits with
 * `BLOB_MISSING`, and the other runs work. If a worker with another store wrote it, throws PerdureError `STORE_DIFFERS` (2): that worker
 * would be refused while this one polls, and could not continue its runs. Otherwise the blob is lost, or a client has it: the run is
 * reported. Looks at the newest runs only.
 */
export async function checkMissingPayloads(options: MissingPayloadsOptions, { blobs, place }: PayloadStore): Promise<void> {
  const { connection, namespace, taskQueue, identity, say } = options;
  const query = `TaskQueue = ${JSON.stringify(taskQueue)} AND ExecutionStatus = "Running"`;
  const asked = { namespace, query, pageSize: HOSTING_LIMITS.missingPayloadRuns };
  // a server without visibility, or without the right to it, has other ways to tell
  const { executions } = await connection.workflowService.listWorkflowExecutions(asked).catch(() => ({ executions: [] }));
  for (const { execution } of executions) {
    const first = await firstEvent(connection, { namespace, execution: execution ?? null, maximumPageSize: 1 });
    const missing = await Promise.all(refsIn(first).map(async (ref) => await blobs.get(ref).then(() => false, isMissing)));
    if (!missing.includes(true)) continue;
    const problem = `run ${execution?.workflowId ?? ''} needs a large payload that is not in ${place}`;
    const writer = await writerOf(connection, { namespace, workflowId: execution?.workflowId, first });
    if (identity !== undefined && isOfAnotherStore(writer, identity)) throw refusal(problem, writer);
    say?.(
      `${problem}: a worker with another store wrote it. ` +
        'The run waits until such a worker polls the queue. Set artifacts in both configs to one bucket or shared folder',
    );
  }
}

function isOfAnotherStore(writer: string, identity: string): boolean {
  const store = storeIdOf(writer);
  return store !== undefined && store !== storeIdOf(identity);
}

function refusal(problem: string, writer: string): PerdureError {
  const fix =
    'Start that worker, set artifacts in both configs to one bucket or shared folder, use another --task-queue, or terminate the run';
  return new PerdureError('STORE_DIFFERS', `${problem}: ${nameOfWorker(writer)} stored it elsewhere. ${fix}`, 2);
}

interface RunStart {
  readonly namespace: string;
  readonly workflowId: string | null | undefined;
  readonly first: HistoryEvent | undefined;
}

/** The identity of the worker that continued a run as new, and stored what the run carries; empty if the server does not tell. */
async function writerOf(connection: ConnectionLike, { namespace, workflowId = null, first }: RunStart): Promise<string> {
  const runId = first?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? '';
  if (runId === '') return '';
  const asked = { namespace, execution: { workflowId, runId }, maximumPageSize: LAST_EVENTS };
  const { history } = await connection.workflowService.getWorkflowExecutionHistoryReverse(asked).catch(() => ({ history: null }));
  const completed = history?.events?.find(({ workflowTaskCompletedEventAttributes: attributes }) => attributes);
  return completed?.workflowTaskCompletedEventAttributes?.identity ?? '';
}

/** The end of an execution that was continued: its task was completed just before. */
const LAST_EVENTS = 3;

type HistoryRequest = Parameters<ConnectionLike['workflowService']['getWorkflowExecutionHistory']>[0];
type History = Awaited<ReturnType<ConnectionLike['workflowService']['getWorkflowExecutionHistory']>>['history'];
type HistoryEvent = NonNullable<NonNullable<History>['events']>[number];

async function firstEvent(connection: ConnectionLike, request: HistoryRequest): Promise<HistoryEvent | undefined> {
  const { history } = await connection.workflowService.getWorkflowExecutionHistory(request).catch(() => ({ history: null }));
  return history?.events?.[0];
}

/** The blobs of the input of an execution, and of the state that an earlier one left to it. */
function refsIn(first: HistoryEvent | undefined): readonly string[] {
  const payloads = first?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  return payloads.flatMap((payload) => storedRef(payload) ?? []);
}

function isMissing(error: unknown): boolean {
  return error instanceof MissingBlobError;
}
