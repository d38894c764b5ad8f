import type { ResolveModelInput, ResolveModelResult } from '../../contracts/activities.js';
import { RUN_LIMITS, STEER_LIMITS } from '../../contracts/constants/limits.js';
import { THINKING_LEVELS } from '../../contracts/constants/thinking-levels.js';
import type { ThinkingSetting } from '../../contracts/schemas/model.js';
import { cutText } from '../../contracts/text/redact.js';
import { showDecision } from '../operator/wait.js';
import type { ModelDirective } from '../policies/model/model-directive.js';
import type { Run } from '../state/run.js';
import { lossShown, readActivityProblem } from '../temporal/failures.js';
import { resolveModel } from '../temporal/proxies.js';
import { switchModel } from './choose-model.js';

/** Moves queued messages into the transcript, in the order in which they were accepted. `turn` is the turn that sends them to the model. */
export function takeSteers(run: Run, turn: number, drain = run.policy.drain): void {
  const taken = run.inbox.drain(drain, Date.now(), turn);
  if (taken.length > 0) run.guards.afterMessage();
  for (const { id, text } of taken) {
    run.transcript.append({ id, role: 'user', origin: 'steer', turn, parts: [{ type: 'text', text }] });
    run.events.add({ type: 'steer.delivered', id, turn });
  }
}

/** Moves the results of sub-agents in the background into the transcript, in the order of their ends. */
export function takeSubagentResults(run: Run, turn: number): void {
  for (const { callId, runId, ending, output } of run.subagents.takeArrived()) {
    const text = `[${ending}]${output === '' ? '' : `\n${output}`}`;
    run.transcript.append({ id: `${callId}-end`, role: 'user', origin: 'subagent', turn, parts: [{ type: 'text', text }] });
    run.events.add({ type: 'subagent.delivered', turn, callId, runId });
  }
}

/**
 * Applies the commands `/model` and `/think` at the beginning of queued messages, before the next request, which belongs to `turn`. A
 * command that cannot be applied is refused with the reason and changes nothing. The rest of its message stays queued.
 */
export async function applyDirectives(run: Run, turn: number): Promise<void> {
  // read again each time: another command may have arrived meanwhile, or follow the applied one
  for (let next = nextDirective(run); next && !run.mustStop; next = nextDirective(run)) {
    const found = await lookUp(run, next.directive, turn);
    // a stop aborted the look-up, so its outcome is unknown: the message stays unchanged
    if (run.mustStop) return;
    const { id } = next;
    // the message may have expired meanwhile
    if (run.inbox.peek().some((waiting) => waiting.id === id)) settle(run, next, { found, turn });
  }
}

/** The first command of the first queued message that has one. */
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
    switchModel(run, found.candidate.model, { turn, why: 'asked for' });
  } else {
    run.route.think(found.candidate);
    showDecision(run, `turn ${turn}: thinking ${directive.level}, set by a message`);
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
    run.events.add({ type: 'notice', text: `message ${id}: /${kind} refused: ${problem}; the rest of the message is delivered` });
  }
  showDecision(run, `turn ${turn}: /${kind} refused: ${problem}`);
}

/** Looks up the model of a command, or why the command cannot be applied. */
async function lookUp(run: Run, directive: ModelDirective, turn: number): Promise<ResolveModelResult> {
  const { route } = run;
  if (directive.kind === 'model') {
    // a new model gets the nearest thinking level to that of the model before
    const before = route.current.thinking;
    return await callResolveModel(run, { model: directive.model, ...(before === undefined ? {} : { thinkingBefore: before }) }, turn);
  }
  const thinking = thinkingIn(directive.level);
  if (thinking === undefined)
    return { problem: `BAD_THINKING ${directive.level}: use ${THINKING_LEVELS.join(', ')} or a number of tokens` };
  return await callResolveModel(run, { model: route.model, thinking }, turn);
}

function thinkingIn(level: string): ThinkingSetting | undefined {
  if (/^[1-9]\d{0,6}$/u.test(level)) return Number(level);
  return THINKING_LEVELS.find((known) => known === level);
}

type ModelQuery = Pick<ResolveModelInput, 'model' | 'thinking' | 'thinkingBefore'>;

/** Runs activity `resolveModel`. It only reads, so it is repeated after a lost worker. */
async function callResolveModel(run: Run, query: ModelQuery, turn: number): Promise<ResolveModelResult> {
  const needsPrice = (run.caps.maxCostUsd !== undefined || run.tenant?.tenant.limitsCost === true) && !run.prepared.priceUnknown;
  const input = { runId: run.runId, ...query, ...(needsPrice ? { needsPrice } : {}) };
  const { heartbeatTimeoutMs } = run.prepared;
  for (let losses = 1; ; losses += 1) {
    try {
      return await run.calls.abortable(() => resolveModel(input, { summary: `turn ${turn}: look up ${query.model}`, heartbeatTimeoutMs }));
    } catch (error) {
      const problem = readActivityProblem(error);
      const { type, message, workerLost, cancelled } = problem;
      const isLost = workerLost || cancelled;
      if (run.mustStop || !isLost || losses > RUN_LIMITS.workerLossesMax) return { problem: `${type}: ${message}` };
      run.events.add({ type: 'worker.lost', turn, activity: 'resolveModel', losses, ...lossShown(problem) });
    }
  }
}
