import { condition } from '@temporalio/workflow';
import { PAYLOAD_LIMITS, SLEEP_LIMITS } from '../../contracts/constants/limits.js';
import type { Sleep } from '../../contracts/schemas/carried-state.js';
import type { JsonValue, ToolCallPart } from '../../contracts/schemas/message.js';
import { didYouMean } from '../../contracts/text/did-you-mean.js';
import { writeDuration } from '../../contracts/text/duration.js';
import { publishAttributes } from '../operator/progress.js';
import { whileWaiting } from '../operator/wait.js';
import type { Run } from '../state/run.js';
import { type Settled, settledOwn } from './settled-call.js';
import { failedResult, textResult } from './tool-results.js';

/** True for a call that waits for a time. */
export function isSleep(run: Run, { name }: Pick<ToolCallPart, 'name'>): boolean {
  return run.descriptor(name)?.waits === 'sleep';
}

/**
 * Runs a call of tool `sleep`: waits, or waits for the rest of what an earlier history began. A cancel, the deadline and a message that
 * skips calls end it early. The work clock runs meanwhile: nobody is waited for. `continue-as-new`: it goes on in the next history.
 */
export async function sleepThrough(run: Run, call: ToolCallPart): Promise<Settled | 'continue-as-new'> {
  const { callId } = call;
  const { turn } = run.counters;
  const read = run.waits.sleeps.get(callId) ?? readSleep(call, Date.now());
  if ('problem' in read) return settledOwn(failedResult(call, turn, read.problem), 'failed');
  run.waits.sleeps.set(callId, read);
  const end = await whileWaiting(run, reasonOf(read), () => pass(run, read));
  publishAttributes(run, { AgentStatus: run.status });
  if (end === 'continue-as-new') return end;
  run.waits.sleeps.delete(callId);
  const now = Date.now();
  // the same calls before and after a sleep are how a run watches something, and no loop
  if (now - read.from >= SLEEP_LIMITS.pollMsMin) run.guards.afterMessage();
  const slept = writeDuration(Math.max(1, Math.round((now - read.from) / 1_000)) * 1_000);
  if (end === 'stopped') {
    const why = run.inbox.cancelRequest ? 'cancelled' : 'deadline reached';
    return settledOwn(failedResult(call, turn, `[${why}] woken after ${slept}`), 'cancelled');
  }
  const woken = end === 'woken' ? `woken after ${slept} by a new message` : `slept ${slept}`;
  return settledOwn(textResult(call, turn, `${woken}; it is ${new Date(now).toISOString()}`), 'ok');
}

async function pass(run: Run, sleep: Sleep): Promise<'over' | 'woken' | 'stopped' | 'continue-as-new'> {
  publishAttributes(run, { AgentStatus: run.status });
  const summary = reasonOf(sleep).slice(0, PAYLOAD_LIMITS.summaryCharsMax);
  const isAwake = (): boolean => run.mustStop || run.inbox.preempting || run.historyIsLong();
  while (Date.now() < sleep.until) {
    if (run.mustStop) return 'stopped';
    if (run.inbox.preempting) return 'woken';
    if (run.historyIsLong()) return 'continue-as-new';
    await condition(isAwake, sleep.until - Date.now(), { summary });
  }
  return 'over';
}

function reasonOf({ until }: Sleep): string {
  return `sleep until ${new Date(until).toISOString()}`;
}

function readSleep({ callId, args }: ToolCallPart, now: number): Sleep | { readonly problem: string } {
  const given: Readonly<Record<string, JsonValue>> = typeof args === 'object' && args !== null && !Array.isArray(args) ? args : {};
  const { seconds, until, ...others } = given;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return { problem: `${unknown.slice(0, 80)}: unknown${didYouMean(unknown, ['seconds', 'until'])}` };
  if ((seconds === undefined) === (until === undefined)) return { problem: 'give either seconds or until' };
  const end = until === undefined ? now + 1_000 * Number(seconds) : timeOf(until);
  const { secondsMin, msMax } = SLEEP_LIMITS;
  if (until === undefined && (typeof seconds !== 'number' || !(seconds >= secondsMin && seconds * 1_000 <= msMax))) {
    return { problem: `seconds: a number from ${secondsMin} to ${msMax / 1_000}` };
  }
  if (end === undefined) return { problem: 'until: a time with its zone, such as 2031-05-01T09:00:00Z' };
  const shown = new Date(now).toISOString();
  if (end <= now) return { problem: `until: this time has passed; it is ${shown}` };
  if (end - now > msMax) return { problem: `until: at most ${writeDuration(msMax)} from now; it is ${shown}` };
  return { callId, from: now, until: Math.ceil(end) };
}

/** A time without a zone would depend on the machine of the worker. */
function timeOf(until: JsonValue): number | undefined {
  if (typeof until !== 'string' || !/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/u.test(until))
    return undefined;
  const time = Date.parse(until);
  return Number.isNaN(time) ? undefined : time;
}
