import { setHandler } from '@temporalio/workflow';
import { namedHost } from '../../contracts/constants/host-queue.js';
import { PAYLOAD_LIMITS, RUN_LIMITS } from '../../contracts/constants/limits.js';
import * as handlers from '../../contracts/handlers.js';
import { HANDLER_DESCRIPTIONS as describe } from '../../contracts/handlers.js';
import { NO_USAGE } from '../../contracts/models/usage.js';
import type { ApprovalList } from '../../contracts/schemas/approval.js';
import type { Progress } from '../../contracts/schemas/run.js';
import { progressOf } from '../operator/progress.js';
import { fitNewest, fitQuestions } from '../policies/tools/truncate-approvals.js';
import { registerCallQuestions } from './call-questions.js';
import { registerCallSamplings } from './call-samplings.js';
import { type HandlerContext, preparedRun } from './handler-context.js';
import { registerParentSignals } from './parent-signals.js';
import { registerSignals } from './signals.js';
import { registerUpdates } from './updates.js';

/**
 * Registers every signal, update and query. Call it before the first await. No handler awaits: handlers only write the inbox, the
 * approvals and the limits.
 */
export function registerHandlers(context: HandlerContext): void {
  registerSignals(context);
  registerUpdates(context);
  registerParentSignals(context);
  registerCallQuestions(context);
  registerCallSamplings(context);
  registerQueries(context);
}

/** Registers the queries. They are read-only, and are answered after the end too. */
function registerQueries(context: HandlerContext): void {
  setHandler(handlers.progress, () => (context.run ? progressOf(context.run) : unprepared(context)), { description: describe.progress });
  setHandler(handlers.transcript, (request = { from: 0 }) => context.run?.transcript.page(request) ?? EMPTY_PAGE, {
    description: describe.transcript,
  });
  setHandler(handlers.events, (request = { after: 0 }) => context.events.page(request), { description: describe.events });
  setHandler(
    handlers.usage,
    () => {
      const { run } = context;
      if (!run) return { total: NO_USAGE };
      return {
        total: run.spending.usage,
        ...(run.spending.lastUsage ? { last: run.spending.lastUsage } : {}),
        ...(run.spending.costUsd === undefined ? {} : { costUsd: run.spending.costUsd }),
      };
    },
    { description: describe.usage },
  );
  setHandler(handlers.approvals, () => listPending(context), { description: describe.approvals });
  setHandler(handlers.unread, (request) => context.inbox.page(request ?? {}), { description: describe.unread });
  setHandler(handlers.steers, () => fitNewest(context.inbox.records(), STEERS_SHOWN), { description: describe.steers });
  setHandler(handlers.steps, () => fitNewest(context.run?.steps.list() ?? [], STEPS_SHOWN), { description: describe.steps });
  setHandler(handlers.setup, () => preparedRun(context).prepared.setup, { description: describe.setup });
  setHandler(handlers.result, () => context.run?.result ?? context.refused ?? null, { description: describe.result });
}

/** All that people are waited for, limited to the size of one query answer. */
function listPending({ run }: HandlerContext): ApprovalList {
  if (!run) return { pending: [], decided: [] };
  const { pending, answered } = run.questions.list();
  const list = run.approvals.list();
  return pending.length + answered.length === 0
    ? list
    : { ...list, ...fitQuestions({ pending, answered }, PAYLOAD_LIMITS.outsideBytesMax / 4) };
}

const STEPS_SHOWN = { countMax: PAYLOAD_LIMITS.stepsMax, bytesMax: PAYLOAD_LIMITS.outsideBytesMax };
const STEERS_SHOWN = { countMax: Number.POSITIVE_INFINITY, bytesMax: PAYLOAD_LIMITS.outsideBytesMax };

const EMPTY_PAGE = { from: 0, next: 0, length: 0, digest: '', messages: [] };

function unprepared({ input, inbox, refused, waitingFor }: HandlerContext): Progress {
  const host = namedHost(input);
  const wait = waitingFor ?? (host === undefined ? undefined : `a worker of host ${host}`);
  return {
    status: refused?.reason ?? 'running',
    phase: refused ? 'closed' : 'preparing',
    ...(wait === undefined || refused ? {} : { waitingFor: wait }),
    turn: 0,
    maxTurns: input.maxTurns ?? RUN_LIMITS.maxTurnsDefault,
    usage: NO_USAGE,
    inbox: inbox.length,
    pendingApprovals: 0,
    agent: input.agent ?? 'default',
    model: input.model ?? '',
  };
}
