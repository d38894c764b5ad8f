import { z } from 'zod';
import { progressOfClosed } from '../../../client/runs/closed-progress.js';
import { HTTP_LIMITS } from '../../../contracts/constants/limits.js';
import { PerdureError } from '../../../contracts/perdure-error.js';
import { Message } from '../../../contracts/schemas/message.js';
import { RunResult, RunStatus } from '../../../contracts/schemas/run.js';
import { defineRoute } from '../routing/route.js';
import { sessionsNamed, shownTo } from '../routing/session-of.js';

const RunItem = z.looseObject({
  runId: z.string(),
  executionId: z.string(),
  status: z.string(),
  task: z.string().optional(),
  agent: z.string().optional(),
  session: z.string().optional(),
  startedAt: z.string(),
  closedAt: z.string().optional(),
});

const ProgressBody = z.looseObject({ status: z.string(), phase: z.string(), turn: z.number(), maxTurns: z.number() });

/** `GET /v1/runs`: lists runs. */
export const listRuns = defineRoute({
  method: 'GET',
  path: '/v1/runs',
  right: 'read',
  summary: 'list runs, newest first',
  query: z.strictObject({
    status: z
      .union([z.enum(['open', 'closed']), RunStatus])
      .optional()
      .describe('Only the open or the closed ones, or those with this status'),
    agent: z.string().optional().describe('Only the runs of this agent'),
    session: z.string().optional().describe('Only the runs of this session'),
    limit: z.coerce.number().int().min(1).max(HTTP_LIMITS.listedMax).default(HTTP_LIMITS.listedDefault).describe('Number of runs'),
    cursor: z.string().max(10_000).optional().describe('`cursor` of the previous page'),
  }),
  answers: [
    {
      status: 200,
      meaning: 'a page; without `cursor` the last one',
      schema: z.object({ runs: z.array(RunItem), cursor: z.string().optional() }),
    },
  ],
  async run({ gateway, caller, query: { status, agent, session, limit, cursor } }) {
    const { runs, ...page } = await gateway.door.client.listPage({
      ...(status && { status }),
      ...(agent !== undefined && { agent }),
      ...(session !== undefined && { session: sessionsNamed(caller, session) }),
      limit,
      ...(caller.tenant === undefined ? {} : { tenant: caller.tenant }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    return { status: 200, body: { runs: runs.map((run) => shownTo(caller, run)), ...page } };
  },
});

/** `GET /v1/runs/{id}`: the progress of a run, and its result once it has one. */
export const readRun = defineRoute({
  method: 'GET',
  path: '/v1/runs/{id}',
  right: 'read',
  summary: 'show the progress of a run, and the result of a closed one',
  answers: [{ status: 200, meaning: 'the run', schema: z.object({ progress: ProgressBody, result: RunResult.optional(), run: RunItem }) }],
  async run({ gateway, caller, params: { id } }) {
    const handle = await gateway.owners.runOf(caller, id);
    const described = await handle.describe();
    const { pending: _pending, historyEvents: _events, open, ...item } = described;
    const run = shownTo(caller, item);
    if (open) return { status: 200, body: { progress: await handle.progress(), run } };
    const result = await handle.result();
    const progress = await handle.progress().catch((error: unknown) => {
      if (!(error instanceof PerdureError) || error.code !== 'NO_WORKER') throw error;
      return progressOfClosed(result, described);
    });
    return { status: 200, body: { progress, result, run } };
  },
});

/** `GET /v1/runs/{id}/transcript`: messages of a run. */
export const readTranscript = defineRoute({
  method: 'GET',
  path: '/v1/runs/{id}/transcript',
  right: 'read',
  summary: 'read the messages of a run',
  query: z.strictObject({
    from: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).default(0).describe('Index of the first message'),
    to: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional().describe('Index after the last message; default: the end'),
  }),
  answers: [
    {
      status: 200,
      meaning: 'messages from `from` on; the next ones begin at `next`, until it is `length`',
      schema: z.object({ from: z.number(), next: z.number(), length: z.number(), messages: z.array(Message) }),
    },
  ],
  async run({ gateway, caller, params: { id }, query: { from, to = Number.MAX_SAFE_INTEGER } }) {
    const handle = await gateway.owners.runOf(caller, id);
    const messages: Message[] = [];
    let bytes = 0;
    let length = 0;
    for await (const page of handle.transcript({ from })) {
      length = page.length;
      messages.push(...page.messages);
      bytes += Buffer.byteLength(JSON.stringify(page.messages));
      if (from + messages.length >= to || bytes >= HTTP_LIMITS.transcriptBytesMax) break;
    }
    const taken = messages.slice(0, Math.max(0, to - from));
    return { status: 200, body: { from, next: from + taken.length, length, messages: taken } };
  },
});
