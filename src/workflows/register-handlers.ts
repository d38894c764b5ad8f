import { setHandler } from '@temporalio/workflow';
import * as handlers from '../contracts/handlers.js';
import { HANDLER_DESCRIPTIONS as describe } from '../contracts/handlers.js';
import { RUN_LIMITS } from '../contracts/limits.js';
import { NO_USAGE } from '../contracts/model.js';
import type { Progress, RunInput, RunResult } from '../contracts/run.js';
import { checkExtension } from './check-extension.js';
import type { EventLog } from './event-log.js';
import { inputFailure } from './failures.js';
import { type Inbox, readSteer } from './inbox.js';
import { progressOf, publishStatus } from './progress.js';
import type { Run } from './run.js';

/** What handlers see of a run: the inbox at once, the rest once it is prepared. */
export interface RunDesk {
  readonly input: RunInput;
  readonly inbox: Inbox;
  readonly events: EventLog;
  run: Run | undefined;
  /** The result of a run that could not be prepared. */
  refused: RunResult | undefined;
}

/** Sets every signal, update and query. Called before the first await; no handler awaits, all only write the inbox. */
export function registerHandlers(desk: RunDesk): void {
  registerSignals(desk);
  registerUpdates(desk);
  registerQueries(desk);
}

function registerSignals(desk: RunDesk): void {
  const { inbox, events } = desk;
  setHandler(
    handlers.steer,
    (input) => {
      inbox.signals += 1;
      const receipt = inbox.enqueue(input);
      if (receipt.accepted && !receipt.duplicate) events.add({ type: 'steer.accepted', id: receipt.id, position: receipt.position });
      showInbox(desk);
    },
    { description: describe.steer },
  );
  setHandler(
    handlers.cancel,
    (input) => {
      inbox.signals += 1;
      const reason = typeof input?.reason === 'string' ? input.reason.slice(0, 500) : '';
      inbox.requestCancel({ source: 'signal', reason });
      events.add({ type: 'cancel.requested', reason });
    },
    { description: describe.cancel },
  );
  setHandler(handlers.pause, () => setPaused(inbox, true), { description: describe.pause });
  setHandler(handlers.resume, () => setPaused(inbox, false), { description: describe.resume });
}

/** An operator who looks at the Web UI sees that the message waits. No command: only what a query shows. */
function showInbox({ run }: RunDesk): void {
  if (run) publishStatus(run);
}

function setPaused(inbox: Inbox, paused: boolean): void {
  inbox.signals += 1;
  inbox.paused = paused;
}

function registerUpdates(desk: RunDesk): void {
  setHandler(
    handlers.submit,
    (input) => {
      desk.inbox.updates += 1;
      checkMessage(desk, input);
      const receipt = desk.inbox.enqueue(input);
      if (!receipt.duplicate) desk.events.add({ type: 'steer.accepted', id: receipt.id, position: receipt.position });
      showInbox(desk);
      return receipt;
    },
    {
      description: describe.submit,
      validator: (input) => checkMessage(desk, input),
    },
  );
  setHandler(
    handlers.extend,
    (input) => {
      desk.inbox.updates += 1;
      const run = openRun(desk);
      checkExtension(run, input);
      run.extend(input);
      return progressOf(run);
    },
    { description: describe.extend, validator: (input) => checkExtension(openRun(desk), input) },
  );
}

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
        total: run.usage,
        ...(run.lastUsage ? { last: run.lastUsage } : {}),
        ...(run.costUsd === undefined ? {} : { costUsd: run.costUsd }),
      };
    },
    { description: describe.usage },
  );
  setHandler(handlers.setup, () => openRun(desk).prepared.setup, { description: describe.setup });
  setHandler(handlers.result, () => desk.run?.result ?? desk.refused ?? null, { description: describe.result });
}

const EMPTY_PAGE = { from: 0, next: 0, length: 0, digest: '', messages: [] };

function unprepared({ input, inbox, refused }: RunDesk): Progress {
  return {
    status: refused?.reason ?? 'running',
    phase: refused ? 'closed' : 'preparing',
    turn: 0,
    maxTurns: input.maxTurns ?? RUN_LIMITS.maxTurnsDefault,
    usage: NO_USAGE,
    inbox: inbox.length,
    agent: input.agent ?? 'default',
    model: input.model ?? '',
  };
}

function openRun({ run }: RunDesk): Run {
  if (!run) throw inputFailure('NOT_PREPARED: the run is not prepared yet; try again in a moment');
  return run;
}

function checkMessage({ run, refused }: RunDesk, input: unknown): void {
  const result = run?.result ?? refused;
  if (result) throw inputFailure(`RUN_CLOSED: the run already ended: ${result.reason}`);
  const reading = readSteer(input);
  if ('problem' in reading) throw inputFailure(reading.problem);
}
