import type { QueuedMessage } from '../contracts/carried-state.js';
import type { ThinkingSetting } from '../contracts/thinking.js';
import { THINKING_LEVELS } from '../contracts/thinking-levels.js';
import { goTo } from './choose-model.js';
import { readActivityProblem } from './failures.js';
import { type ModelDirective, modelDirective } from './policies/model-directive.js';
import { resolveModel } from './proxies.js';
import type { Run } from './run.js';

/**
 * Does what waiting messages ask of the run itself, before the next request: `/model` and `/think` on their first line. What cannot be
 * done is refused with the reason, and changes nothing; the rest of a message waits to be read.
 */
export async function followDirectives(run: Run): Promise<void> {
  for (const message of directives(run)) {
    const { directive } = message;
    const problem = await follow(run, directive);
    // nobody knows what came of a question that a stop cut short: the message is left as it is
    if (run.mustStop) return;
    if (problem !== undefined) {
      run.inbox.refuse(message.id, problem);
      run.decided(`turn ${run.counters.turn + 1}: /${directive.kind} refused: ${problem}`);
    } else if (run.inbox.keepRest(message.id, directive.rest, run.counters.turn + 1) === 'settled') {
      run.events.add({ type: 'steer.delivered', id: message.id, turn: run.counters.turn + 1 });
    }
  }
}

/** True when something waits for the model to read; a directive alone is nothing to it, and ends with the run. */
export function hasUnread(run: Run): boolean {
  const silent = directives(run).filter(({ directive }) => directive.rest === '');
  return run.inbox.length > silent.length;
}

function directives(run: Run): (QueuedMessage & { readonly directive: ModelDirective })[] {
  // runs of older versions sent such a message to the model
  if (run.prepared.route === undefined) return [];
  return run.inbox.peek().flatMap((message) => {
    const directive = modelDirective(message.text);
    return directive ? [{ ...message, directive }] : [];
  });
}

/** Gives what keeps it from being done; undefined once it is. */
async function follow(run: Run, directive: ModelDirective): Promise<string | undefined> {
  const { route } = run;
  if (directive.kind === 'model') {
    const found = await look(run, directive.model, undefined);
    if ('problem' in found) return found.problem;
    route.prefer(found.candidate);
    goTo(run, found.candidate.model, Date.now(), 'asked for');
    return undefined;
  }
  const setting = thinkingIn(directive.level);
  if (setting === undefined) return `BAD_THINKING ${directive.level}: use ${THINKING_LEVELS.join(', ')} or a number of tokens`;
  const found = await look(run, route.model, setting);
  if ('problem' in found) return found.problem;
  route.replace(found.candidate);
  run.decided(`turn ${run.counters.turn + 1}: thinking ${directive.level}, as a message asked`);
  return undefined;
}

function thinkingIn(level: string): ThinkingSetting | undefined {
  if (/^[1-9]\d{0,6}$/u.test(level)) return Number(level);
  return THINKING_LEVELS.find((known) => known === level);
}

async function look(run: Run, model: string, thinking: ThinkingSetting | undefined): ReturnType<typeof resolveModel> {
  const needsPrice = run.caps.maxCostUsd !== undefined && !run.prepared.priceUnknown;
  const before = run.route.current.thinking;
  const input = {
    runId: run.runId,
    model,
    // another model thinks as much as this one, as near as it can; what is asked for it must be able to
    ...(thinking === undefined ? {} : { thinking }),
    ...(thinking !== undefined || before === undefined ? {} : { thinkingBefore: before }),
    ...(needsPrice ? { needsPrice } : {}),
  };
  try {
    return await run.calls.abortable(() => resolveModel(input, { summary: `turn ${run.counters.turn + 1}: look up ${model}` }));
  } catch (error) {
    const { type, message } = readActivityProblem(error);
    return { problem: `${type}: ${message}` };
  }
}
