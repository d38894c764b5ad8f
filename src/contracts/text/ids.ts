import { CLIENT_LIMITS } from '../constants/limits.js';

/**
 * True for an id that a run or session may have: 1 to `CLIENT_LIMITS.idCharsMax` characters of `A-Z a-z 0-9 . _ : -`, the first one
 * neither a dot nor a dash. An id stands in file names, URLs and search queries, so it holds nothing that any of them would escape.
 */
export function isRunId(text: string): boolean {
  return text.length <= CLIENT_LIMITS.idCharsMax && /^[A-Za-z0-9_:][A-Za-z0-9._:-]*$/u.test(text);
}

/**
 * The call id of the approval that a run requests when its budget is spent. Update `extend` approves it with a larger budget, update
 * `deny` ends the run.
 */
export const BUDGET_APPROVAL = 'budget';
