import { CLIENT_LIMITS } from '../constants/limits.js';

/**
 * True for a valid id of a run or session: 1 to `CLIENT_LIMITS.idCharsMax` characters of `A-Z a-z 0-9 . _ : -`, the first one neither a
 * dot nor a dash. Ids appear in file names, URLs and search queries, so they contain no character that one of these would escape.
 */
export function isRunId(text: string): boolean {
  return text.length <= CLIENT_LIMITS.idCharsMax && /^[A-Za-z0-9_:][A-Za-z0-9._:-]*$/u.test(text);
}

/** True for a valid key of a session: one or more ids, separated by slashes, with at most `CLIENT_LIMITS.idCharsMax` characters. */
export function isSessionKey(text: string): boolean {
  return text.length <= CLIENT_LIMITS.idCharsMax && text.split('/').every(isRunId);
}

/**
 * The call id of the approval that a run requests at a limit. Update `extend` approves it with a larger limit; update `deny` lets the run
 * write its final answer.
 */
export const BUDGET_APPROVAL = 'budget';

/** Tool that starts a sub-agent. The workflow answers its calls. */
export const DELEGATE_TOOL = 'delegate';

/** Tool that hands the conversation of a run to another agent. The workflow answers its calls. */
export const HANDOFF_TOOL = 'handoff';

/** Tool that asks a person. The workflow answers its calls. */
export const ASK_TOOL = 'ask_user';

/** Tool that waits for a time. The workflow answers its calls. */
export const SLEEP_TOOL = 'sleep';

/** Signal with which a run tells its sub-agents that it continues as new. */
export const PARENT_CONTINUED = 'parentContinued';

/** Signal and query with which a running call asks the person of its run. Not for operators. */
export const ASK_SIGNAL = 'ask';
export const QUESTION_QUERY = 'question';

/** Signal and query with which a running call requests a completion of its run. Not for operators. */
export const SAMPLE_SIGNAL = 'sample';
export const SAMPLING_QUERY = 'sampling';
