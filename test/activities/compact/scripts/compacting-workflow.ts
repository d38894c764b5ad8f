import { setHandler, workflowInfo } from '@temporalio/workflow';
import type { CompactInput, CompactResult } from '../../../../src/contracts/activities.js';
import { transcript as transcriptQuery } from '../../../../src/contracts/handlers.js';
import type { Message } from '../../../../src/contracts/schemas/message.js';
import { Transcript } from '../../../../src/workflows/state/transcript.js';
import { compact } from '../../../../src/workflows/temporal/proxies.js';

/** What one compaction is asked, but for the transcript's reference. */
export type CompactionQuestion = Pick<CompactInput, 'strategy' | 'from' | 'to' | 'tokensMax'>;

/** Compacts a transcript once and returns what came of it; no worker was told of the messages, so they are read through the query. */
export async function compacting(messages: readonly Message[], question: CompactionQuestion): Promise<CompactResult> {
  const transcript = new Transcript();
  transcript.load(messages);
  setHandler(transcriptQuery, (request) => transcript.page(request));
  const { workflowId, runId } = workflowInfo();
  const place = { runId: workflowId, executionId: runId, turn: 3, setupHash: 'none', model: 'fake/model' };
  return compact({ ...place, ...transcript.reference(), ...question }, { heartbeatTimeoutMs: undefined, summary: 'compacting' });
}
