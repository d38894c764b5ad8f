import type { ResolveModelInput, ResolveModelResult } from '../../contracts/activities.js';
import { RUN_LIMITS, STEER_LIMITS } from '../../contracts/constants/limits.js';
import { THINKING_LEVELS } from '../../contracts/constants/thinking-levels.js';
import { NO_LOOPS } from '../../contracts/initial-state.js';
import type { ThinkingSetting } from '../../contracts/schemas/model.js';
import { cutText } from '../../contracts/text/redact.js';
import { showDecision } from '../operator/wait.js';
import { type ModelDirective, textToRead } from '../policies/model/model-directive.js';
import { type DirectiveMessage, isSilent, waitingDirectives } from '../state/directives.js';
import type { Run } from '../state/run.js';
import { readActivityProblem } from '../temporal/failures.js';
import { resolveModel } from '../temporal/proxies.js';
import { goTo } from './choose-model.js';

/**
 * Does what waiting messages ask of the run itself, before the next request, which is of `turn`: `/model` and `/think` on their first
 * line. What cannot be done is refused with the reason, and changes nothing; the rest of its message waits to be read all the same.
 */
export async function followDirectives(run: Run, turn: number): Promise<void> {
  // looked at again: another may have come meanwhile, or stand behind the one that was done
  for (let [message] = waitingDirectives(run); message && !run.mustStop; [message] = waitingDirectives(run)) {
    const found = await lookUp(run, message.directive, turn);
    // nobody knows what came of a question that a stop cut short: the message is left as it is
    if (run.mustStop) return;
    const { id } = message;
    // its time may have ended meanwhile
    if (run.inbox.peek().some((waiting) => waiting.id === id)) settle(run, message, { found, turn });
  }
}

/** Before a request with which the run ends: a directive comes too late for it, and only what stands behind it is read. */
export function skipDirectives(run: Run, turn: number): void {
  for (const { id, text } of waitingDirectives(run)) {
    if (!isSilent({ text })) run.inbox.keepRest(id, textToRead(text), turn);
  }
}

function settle(run: Run, message: DirectiveMessage, { found, turn }: { readonly found: ResolveModelResult; readonly turn: number }): void {
  if ('problem' in found) return refuse(run, message, { problem: cutText(found.problem, STEER_LIMITS.refusalBytesMax), turn });
  const { id, directive } = message;
  if (directive.kind === 'model') {
    run.route.prefer(found.candidate);
    goTo(run, found.candidate.model, { turn, why: 'asked for' });
  } else {
    run.route.think(found.candidate);
    showDecision(run, `turn ${turn}: thinking ${directive.level}, as a message asked`);
  }
  if (run.inbox.keepRest(id, directive.rest, turn) === 'settled') run.events.add({ type: 'steer.delivered', id, turn });
}

function refuse(
  run: Run,
  { id, directive: { kind, rest } }: DirectiveMessage,
  { problem, turn }: { readonly problem: string; readonly turn: number },
): void {
  if (rest === '' || !run.policy.keepRestOfRefused) run.inbox.refuse(id, problem);
  else {
    run.inbox.keepRest(id, rest, turn);
    run.events.add({ type: 'notice', text: `message ${id}: /${kind} refused: ${problem}; the rest stands` });
  }
  showDecision(run, `turn ${turn}: /${kind} refused: ${problem}`);
}

/** What is to be known before it can be done; or why it cannot. */
async function lookUp(run: Run, directive: ModelDirective, turn: number): Promise<ResolveModelResult> {
  const { route } = run;
  if (directive.kind === 'model') {
    // another model thinks as much as the one before, as near as it can
    const before = route.current.thinking;
    return await ask(run, { model: directive.model, ...(before === undefined ? {} : { thinkingBefore: before }) }, turn);
  }
  const thinking = thinkingIn(directive.level);
  if (thinking === undefined)
    return { problem: `BAD_THINKING ${directive.level}: use ${THINKING_LEVELS.join(', ')} or a number of tokens` };
  return await ask(run, { model: route.model, thinking }, turn);
}

function thinkingIn(level: string): ThinkingSetting | undefined {
  if (/^[1-9]\d{0,6}$/u.test(level)) return Number(level);
  return THINKING_LEVELS.find((known) => known === level);
}

type Asked = Pick<ResolveModelInput, 'model' | 'thinking' | 'thinkingBefore'>;

/** It only looks, so a lost worker's question is asked again. */
async function ask(run: Run, asked: Asked, turn: number): Promise<ResolveModelResult> {
  const needsPrice = run.caps.maxCostUsd !== undefined && !run.prepared.priceUnknown;
  const input = { runId: run.runId, ...asked, ...(needsPrice ? { needsPrice } : {}) };
  for (let losses = 1; ; losses += 1) {
    try {
      return await run.calls.abortable(() => resolveModel(input, { summary: `turn ${turn}: look up ${asked.model}` }));
    } catch (error) {
      const { type, message, workerLost, cancelled } = readActivityProblem(error);
      const isLost = workerLost || cancelled;
      if (run.mustStop || !isLost || losses > RUN_LIMITS.workerLossesMax) return { problem: `${type}: ${message}` };
      run.events.add({ type: 'worker.lost', turn, activity: 'resolveModel', losses });
    }
  }
}

/** Moves waiting messages into the transcript, in the order acknowledged; `turn` is the one that reads them. */
export function takeSteers(run: Run, turn: number, drain = run.policy.drain): void {
  const taken = run.inbox.drain(drain, Date.now(), turn);
  // what a person says is new: the same call again may be just what was asked for
  if (taken.length > 0) run.loop = NO_LOOPS;
  for (const { id, text } of taken) {
    run.transcript.append({ id, role: 'user', origin: 'steer', turn, parts: [{ type: 'text', text }] });
    run.events.add({ type: 'steer.delivered', id, turn });
  }
}
