import { condition } from '@temporalio/workflow';
import { PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import type { CarriedState } from '../../contracts/schemas/carried-state.js';
import type { Run } from '../state/run.js';
import { publishAttributes, publishStatus } from './progress.js';

/** What a loop finds when it asks whether it may go on. */
export type GoOn = 'go' | 'stop' | 'continue-as-new';

/** Asked before each call: waits while paused, then says whether the call may start. The clock stands still meanwhile. */
export async function mayGoOn(run: Run): Promise<GoOn> {
  if (run.mustStop) return 'stop';
  if (!run.inbox.paused) return 'go';
  showPause(run);
  // looked at again: a pause may come right behind its resume
  while (run.inbox.paused && !run.mustStop) {
    if (run.historyIsLong()) return 'continue-as-new';
    await condition(() => !run.inbox.paused || run.mustStop || run.historyIsLong());
  }
  endPause(run);
  return run.mustStop ? 'stop' : 'go';
}

/**
 * Asked between turns: waits while the run is paused or a live conversation holds it, then says whether the turn may start. A hold lets
 * go by itself when its time is over, and the end of the run ends it; one that is still on is carried into the next history.
 */
export async function mayStartTurn(run: Run): Promise<GoOn> {
  for (;;) {
    const gate = await mayGoOn(run);
    const { hold } = run.inbox;
    // a stop may be overcome: the hold is still on then
    if (!hold || gate !== 'go') return gate;
    if (isOver(hold)) {
      endHold(run, 'expired');
      return gate;
    }
    if ((await waitWhileHeld(run)) === 'continue-as-new') return 'continue-as-new';
  }
}

/** Lets go of a hold, if there is one, and says why. */
export function endHold({ inbox, events }: Run, why: 'expired' | 'stopped'): void {
  if (!inbox.hold) return;
  inbox.hold = undefined;
  events.add({ type: 'released', why });
}

async function waitWhileHeld(run: Run): Promise<GoOn> {
  const close = showHold(run);
  for (let hold = holdToHeed(run); hold; hold = holdToHeed(run)) {
    if (run.historyIsLong()) return 'continue-as-new';
    const { until, by } = hold;
    // a hold that is made longer needs no other timer: this one ends, and the rest is waited for
    const isShorter = (): boolean => (holdToHeed(run)?.until ?? 0) < until;
    await condition(() => isShorter() || run.historyIsLong(), until - Date.now(), {
      summary: `held by ${by}`.slice(0, PAYLOAD_LIMITS.summaryCharsMax),
    });
  }
  close();
  run.clock.start();
  publishTransition(run);
  return 'go';
}

/** The hold that keeps the next turn back now; a pause and a stop come before it. */
function holdToHeed({ inbox, mustStop }: Run): CarriedState['hold'] {
  const { hold, paused } = inbox;
  return !hold || isOver(hold) || paused || mustStop ? undefined : hold;
}

function isOver({ until }: NonNullable<CarriedState['hold']>): boolean {
  return until <= Date.now();
}

/** Shows who holds the run, also when a second hold sets its end anew. Call what it returns when the wait is over. */
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
  run.clock.start();
  publishTransition(run);
}

function publishTransition(run: Run): void {
  publishAttributes(run, { AgentStatus: run.status });
  publishStatus(run);
}
