import type { Reason, RunResult } from '../../contracts/schemas/run.js';

const NOTICES: Readonly<Record<Reason, string | undefined>> = {
  completed: undefined,
  refusal: undefined,
  max_turns: 'I stopped: the limit of turns was reached.',
  max_tokens: 'I stopped: the answer was too long.',
  budget: 'I stopped: the budget was spent.',
  deadline: 'I stopped: the time limit was reached.',
  loop_detected: 'I stopped: I repeated myself.',
  cancelled: 'This was cancelled.',
  error: 'This failed. An operator can see the cause.',
};

/**
 * What a conversation shows of a run that did not complete. Undefined for one that did. The cause of an error is not shown: people of a chat
 * are not operators, and an error may name hosts and files.
 */
export function endNotice({ reason }: Pick<RunResult, 'reason'>): string | undefined {
  return NOTICES[reason];
}

/** What a conversation shows of a message that no run answers. */
export function droppedNotice(reason: string): string {
  return `Your message was not answered: ${reason}.`;
}
