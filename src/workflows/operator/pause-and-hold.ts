import { condition } from '@temporalio/workflow';
import { PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import type { CarriedState } from '../../contracts/schemas/carried-state.js';
import type { Run } from '../state/run.js';
import { publishAttributes } from './progress.js';
import { resumeClock } from './wait.js';

/** How a loop proceeds after a wait: with its next step, to its end, or in a fresh history. */
export type Continuation = 'go' | 'stop' | 'continue-as-new';

/** True when `waitWhilePaused` would return `go` without a wait: the caller need not call it. */
export function isRunnable({ inbox, mustStop }: Run): boolean {
  return !mustStop && !inbox.paused;
}

/** Called before each call: waits while the run is paused, with the work clock stopped. `go`: the call may start. */
export async function waitWhilePaused(run: Run): Promise<Continuation> {
  if (run.mustStop) return 'stop';
  if (!run.inbox.paused) return 'go';
  showPause(run);
  // checked again: a second pause may arrive in the same activation as the resume
  while (run.inbox.paused && !run.mustStop) {
    if (run.historyIsLong()) return 'continue-as-new';
    await condition(() => !run.inbox.paused || run.mustStop || run.historyIsLong());
  }
  endPause(run);
  return run.mustStop ? 'stop' : 'go';
}

/**
 * Called between turns: waits while the run is paused or held by a live conversation. `go`: the turn may start. A hold ends when it
 * expires, on signal `release`, or with the run; continue-as-new carries it.
 */
export async function waitBeforeTurn(run: Run): Promise<Continuation> {
  for (;;) {
    const gate = await waitWhilePaused(run);
    const { hold } = run.inbox;
    // after a stop whose limit is raised the hold is still in effect
    if (!hold || gate !== 'go') return gate;
    if (isOver(hold)) {
      endHold(run, 'expired');
      return gate;
    }
    if ((await waitWhileHeld(run)) === 'continue-as-new') return 'continue-as-new';
  }
}

/** True when `waitBeforeTurn` would wait: a run without a pause and a hold need not call it. */
export function mustWaitBeforeTurn({ inbox, mustStop }: Run): boolean {
  return !mustStop && (inbox.paused || inbox.hold !== undefined);
}

/** Ends the hold, if there is one, and records the reason as an event. */
export function endHold({ inbox, events }: Run, why: 'expired' | 'stopped'): void {
  if (!inbox.hold) return;
  inbox.hold = undefined;
  events.add({ type: 'released', why });
}

async function waitWhileHeld(run: Run): Promise<Continuation> {
  const close = showHold(run);
  for (let hold = activeHold(run); hold; hold = activeHold(run)) {
    if (run.historyIsLong()) return 'continue-as-new';
    const { until, by } = hold;
    // a hold that is extended sets no new timer: this one fires, and the loop waits for the rest
    const isShorter = (): boolean => (activeHold(run)?.until ?? 0) < until;
    await condition(() => isShorter() || run.historyIsLong(), until - Date.now(), {
      summary: `held by ${by}`.slice(0, PAYLOAD_LIMITS.summaryCharsMax),
    });
  }
  close();
  run.clock.start();
  publishTransition(run);
  return 'go';
}

/** The hold that delays the next turn; undefined while the run is paused or stopping. */
function activeHold({ inbox, mustStop }: Run): CarriedState['hold'] {
  const { hold, paused } = inbox;
  return !hold || isOver(hold) || paused || mustStop ? undefined : hold;
}

function isOver({ until }: NonNullable<CarriedState['hold']>): boolean {
  return until <= Date.now();
}

/** Shows the owner and the expiry of the hold, also after a second `hold`. Returns the function that ends the wait. */
function showHold(run: Run): () => void {
  const reason = (): string => {
    const { hold } = run.inbox;
    return hold ? `release (held by ${hold.by} until ${new Date(hold.until).toISOString()})` : 'release';
  };
  const close = run.waits.open(reason);
  run.clock.stop();
  run.events.add({ type: 'waiting', for: reason() });
  publishTransition(run);
  return close;
}

function showPause(run: Run): void {
  if (run.waits.paused) return;
  run.waits.paused = true;
  run.clock.stop();
  run.events.add({ type: 'paused' });
  publishTransition(run);
}

function endPause(run: Run): void {
  if (!run.waits.paused) return;
  run.waits.paused = false;
  run.events.add({ type: 'resumed' });
  resumeClock(run);
  publishTransition(run);
}

function publishTransition(run: Run): void {
  publishAttributes(run, { AgentStatus: run.status });
}
