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

/**
 * What a conversation shows of a message that no run answers. Other reasons are for operators: they may name hosts and files.
 */
export function droppedNotice(reason: string): string {
  const shown = [...DROPS].find(([beginning]) => reason.startsWith(beginning))?.[1];
  return shown === undefined ? 'Your message was not answered. An operator can see the cause.' : `Your message was not answered: ${shown}.`;
}

/** The reasons of sessions that are shown, by their beginning. */
const DROPS: ReadonlyMap<string, string> = new Map([
  ['unsent', 'it was withdrawn'],
  ['the queue was full', 'too many messages were waiting'],
  ['the session was cancelled', 'the conversation was ended'],
]);

/** What a conversation shows of a message whose run the server no longer has. */
export const GONE_NOTICE = 'The answer to your message is no longer kept.';

/** What a conversation shows of a message that its session does not list. `isCertain`: the session never had it. */
export function missingNotice(isCertain: boolean): string {
  return isCertain
    ? 'Your message was not answered: it was lost.'
    : 'Your message is no longer listed. If it was not answered, send it again.';
}
