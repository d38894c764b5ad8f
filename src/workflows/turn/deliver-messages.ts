import type { ResolveModelInput, ResolveModelResult } from '../../contracts/activities.js';
import { RUN_LIMITS, STEER_LIMITS } from '../../contracts/constants/limits.js';
import { THINKING_LEVELS } from '../../contracts/constants/thinking-levels.js';
import type { ThinkingSetting } from '../../contracts/schemas/model.js';
import { cutText } from '../../contracts/text/redact.js';
import { showDecision } from '../operator/wait.js';
import type { ModelDirective } from '../policies/model/model-directive.js';
import type { Run } from '../state/run.js';
import { readActivityProblem } from '../temporal/failures.js';
import { resolveModel } from '../temporal/proxies.js';
import { goTo } from './choose-model.js';

/** Moves waiting messages into the transcript, in the order acknowledged; `turn` is the one that reads them. */
export function takeSteers(run: Run, turn: number, drain = run.policy.drain): void {
  const taken = run.inbox.drain(drain, Date.now(), turn);
  if (taken.length > 0) run.guards.afterMessage();
  for (const { id, text } of taken) {
    run.transcript.append({ id, role: 'user', origin: 'steer', turn, parts: [{ type: 'text', text }] });
    run.events.add({ type: 'steer.delivered', id, turn });
  }
}

/**
 * Does what waiting messages ask of the run itself, before the next request, which is of `turn`: `/model` and `/think` on their first
 * line. What cannot be done is refused with the reason, and changes nothing; the rest of its message waits to be read all the same.
 */
export async function followDirectives(run: Run, turn: number): Promise<void> {
  // read again each time: another one may have come meanwhile, or stand behind the one that was followed
  for (let next = nextDirective(run); next && !run.mustStop; next = nextDirective(run)) {
    const found = await lookUp(run, next.directive, turn);
    // a stop cut the look-up short, so its outcome is unknown: the message stays as it is
    if (run.mustStop) return;
    const { id } = next;
    // its time to live may have ended meanwhile
    if (run.inbox.peek().some((waiting) => waiting.id === id)) settle(run, next, { found, turn });
  }
}

/** The first command of the first message that has one. */
interface NextDirective {
  readonly id: string;
  readonly directive: ModelDirective;
}

function nextDirective({ inbox }: Run): NextDirective | undefined {
  const [message] = inbox.directed;
  const directive = message?.directives[0];
  return message && directive && { id: message.id, directive };
}

function settle(run: Run, message: NextDirective, { found, turn }: { readonly found: ResolveModelResult; readonly turn: number }): void {
  if ('problem' in found) return refuse(run, message, { problem: cutText(found.problem, STEER_LIMITS.refusalBytesMax), turn });
  const { id, directive } = message;
  if (directive.kind === 'model') {
    run.route.prefer(found.candidate);
    goTo(run, found.candidate.model, { turn, why: 'asked for' });
  } else {
    run.route.think(found.candidate);
    showDecision(run, `turn ${turn}: thinking ${directive.level}, as a message asked`);
  }
  if (run.inbox.dropDirective(id, turn) === 'settled') run.events.add({ type: 'steer.delivered', id, turn });
}

function refuse(
  run: Run,
  { id, directive: { kind, rest } }: NextDirective,
  { problem, turn }: { readonly problem: string; readonly turn: number },
): void {
  if (rest === '' || !run.policy.keepRestOfRefused) run.inbox.refuse(id, problem);
  else {
    run.inbox.dropDirective(id, turn);
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
