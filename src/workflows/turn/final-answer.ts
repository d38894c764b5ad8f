import { textOf } from '../../contracts/message-text.js';
import type { JsonValue, Message } from '../../contracts/schemas/message.js';
import type { Reason } from '../../contracts/schemas/run.js';
import { publishStatus } from '../operator/progress.js';
import type { Run } from '../state/run.js';
import type { Ending } from '../state/run-result.js';
import { structuredOf } from './accept-answer.js';
import { askModel } from './ask-model.js';
import { takeSteers } from './deliver-messages.js';
import { afterRun, onError } from './run-hooks.js';

/** Why no further turn follows, as the model reads it. */
const WHY: Partial<Record<Reason, string>> = {
  max_turns: 'the turn limit of this run is reached',
  deadline: 'the time limit of this run is reached',
  budget: 'the budget of this run is spent',
  loop_detected: 'this run repeats itself without getting on',
};

const NOTHING_SAID = 'your answers had no text';

/** True for the reasons that reserve one last call (idea 3: every stop leaves an answer). */
export function hasFinalCall(reason: Reason): boolean {
  return WHY[reason] !== undefined;
}

/**
 * The reserved final call: the same tools, but none may be called; its instruction is in that request only. It is not a turn.
 * Returns the answer, or undefined when it failed, took too long or was cancelled: then the last text stands.
 */
async function finalAnswer(run: Run, reason: Reason): Promise<Message | undefined> {
  // nobody would read what waits
  if (run.inbox.cancelRequest) return undefined;
  run.phase = 'finalising';
  run.tool = undefined;
  // this call has a time limit of its own: a deadline that comes now must not take the answer away
  run.clock.stop();
  // nothing is read after this: all that waits goes in
  run.inbox.dropDirectives(run.counters.turn);
  takeSteers(run, run.counters.turn, 'all');
  publishStatus(run);
  const reply = await askModel(run, { requestOnly: [instruction(reason)], toolChoice: 'none', final: true });
  if (reply.kind !== 'answer') return undefined;
  return textOf(reply.message).trim() === '' ? undefined : reply.message;
}

/** The last assistant text of the transcript; calls never count as text. */
function lastText(messages: readonly Message[]): string {
  const last = messages.findLast((message) => message.role === 'assistant' && textOf(message).trim() !== '');
  return last ? textOf(last) : '';
}

function instruction(reason: Reason): Message {
  return {
    id: 'final-answer',
    role: 'user',
    origin: 'nudge',
    parts: [
      {
        type: 'text',
        text: `[notice] This is the last answer: ${WHY[reason] ?? NOTHING_SAID}. Call no tools. Say in plain text what was done, what was found, and what is still open.`,
      },
    ],
  };
}

type End = Extract<Ending, { kind: 'end' }>;

/** What a run says at its end. */
export interface LastWord {
  readonly output: string;
  readonly finalized?: boolean;
  /** How it ends after all, when a hook or the last call changed that. */
  readonly ending?: End;
}

/** The last answer: the reserved final call where the reason has one, then the hooks after the run. */
export async function lastWord(run: Run, ending: End): Promise<LastWord> {
  const mayAskForText = run.isGuarded && run.input.mode !== 'chat';
  const asked = hasFinalCall(ending.reason) || (mayAskForText && ending.emptyAnswer === true);
  const final = asked ? await finalAnswer(run, ending.reason) : undefined;
  const output = final ? textOf(final) : lastText(run.ownMessages);
  const finalized = hasFinalCall(ending.reason) ? { finalized: final !== undefined } : {};
  const settled = final ? await settledBy(run, ending, final) : ending;
  if (settled.reason === 'error') return { output, ending: await onError(run, settled), ...finalized };
  return { ...(await afterRun(run, { output, ending: settled })), ...finalized };
}

/** A final call gave an answer to a run that had none; it may also be the JSON that the schema asks for. */
async function settledBy(run: Run, ending: End, final: Message): Promise<End> {
  const structured: JsonValue | undefined = await structuredOf(run, final);
  return { ...ending, emptyAnswer: false, ...(structured === undefined ? {} : { structured }) };
}
