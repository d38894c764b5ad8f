import type { QueuedMessage } from '../../contracts/schemas/carried-state.js';
import { type ModelDirective, modelDirective, textToRead } from '../policies/model/model-directive.js';
import type { Run } from './run.js';

/** What a run looks at to find them. */
type Desk = Pick<Run, 'inbox' | 'prepared'>;

/** A message that asks something of the run itself. */
export type DirectiveMessage = QueuedMessage & { readonly directive: ModelDirective };

/** The messages that ask something of the run itself, in the order acknowledged. */
export function waitingDirectives({ inbox, prepared }: Desk): DirectiveMessage[] {
  // runs of older versions sent such a message to the model
  if (prepared.route === undefined) return [];
  return inbox.peek().flatMap((message) => {
    const directive = modelDirective(message.text);
    return directive ? [{ ...message, directive }] : [];
  });
}

/** True when something waits for the model to read; a directive alone is nothing to it, and ends with the run. */
export function hasUnread(desk: Desk): boolean {
  return desk.inbox.length > waitingDirectives(desk).filter(isSilent).length;
}

/** Nothing in it is for the model. */
export function isSilent({ text }: Pick<QueuedMessage, 'text'>): boolean {
  return textToRead(text) === '';
}
