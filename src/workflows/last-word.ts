import { textOf } from '../contracts/message-text.js';
import type { JsonValue, Message } from '../contracts/schemas/message.js';
import type { Ending } from './state/ending.js';
import type { Run } from './state/run.js';
import { structuredOf } from './turn/accept-answer.js';
import { finalAnswer, hasFinalCall, lastText } from './turn/final-answer.js';
import { afterRun, onError } from './turn/run-hooks.js';

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
