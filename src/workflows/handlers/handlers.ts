import { setHandler } from '@temporalio/workflow';
import { PAYLOAD_LIMITS, RUN_LIMITS } from '../../contracts/constants/limits.js';
import * as handlers from '../../contracts/handlers.js';
import { HANDLER_DESCRIPTIONS as describe } from '../../contracts/handlers.js';
import { NO_USAGE } from '../../contracts/models/usage.js';
import type { Progress } from '../../contracts/schemas/run.js';
import { progressOf } from '../operator/progress.js';
import { fitNewest } from '../policies/tools/truncate-approvals.js';
import { openRun, type RunDesk } from './handler-context.js';
import { registerSignals } from './signals.js';
import { registerUpdates } from './updates.js';

/** Sets every signal, update and query. Called before the first await; no handler awaits, all only write inbox and decision tables. */
export function registerHandlers(desk: RunDesk): void {
  registerSignals(desk);
  registerUpdates(desk);
  registerQueries(desk);
}

/** Sets the queries. They only look, also after the end. */
function registerQueries(desk: RunDesk): void {
  setHandler(handlers.progress, () => (desk.run ? progressOf(desk.run) : unprepared(desk)), { description: describe.progress });
  setHandler(handlers.transcript, (request = { from: 0 }) => desk.run?.transcript.page(request) ?? EMPTY_PAGE, {
    description: describe.transcript,
  });
  setHandler(handlers.events, (request = { after: 0 }) => desk.events.page(request), { description: describe.events });
  setHandler(
    handlers.usage,
    () => {
      const { run } = desk;
      if (!run) return { total: NO_USAGE };
      return {
        total: run.spending.usage,
        ...(run.spending.lastUsage ? { last: run.spending.lastUsage } : {}),
        ...(run.spending.costUsd === undefined ? {} : { costUsd: run.spending.costUsd }),
      };
    },
    { description: describe.usage },
  );
  setHandler(handlers.approvals, () => desk.run?.approvals.list() ?? { pending: [], decided: [] }, { description: describe.approvals });
  setHandler(handlers.steers, () => fitNewest(desk.inbox.records(), STEERS_SHOWN), { description: describe.steers });
  setHandler(handlers.steps, () => fitNewest(desk.run?.steps.list() ?? [], STEPS_SHOWN), { description: describe.steps });
  setHandler(handlers.setup, () => openRun(desk).prepared.setup, { description: describe.setup });
  setHandler(handlers.result, () => desk.run?.result ?? desk.refused ?? null, { description: describe.result });
}

const STEPS_SHOWN = { countMax: PAYLOAD_LIMITS.stepsMax, bytesMax: PAYLOAD_LIMITS.outsideBytesMax };
const STEERS_SHOWN = { countMax: Number.POSITIVE_INFINITY, bytesMax: PAYLOAD_LIMITS.outsideBytesMax };

const EMPTY_PAGE = { from: 0, next: 0, length: 0, digest: '', messages: [] };

function unprepared({ input, inbox, refused }: RunDesk): Progress {
  return {
    status: refused?.reason ?? 'running',
    phase: refused ? 'closed' : 'preparing',
    turn: 0,
    maxTurns: input.maxTurns ?? RUN_LIMITS.maxTurnsDefault,
    usage: NO_USAGE,
    inbox: inbox.length,
    pendingApprovals: 0,
    agent: input.agent ?? 'default',
    model: input.model ?? '',
  };
}
