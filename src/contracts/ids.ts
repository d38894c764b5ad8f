import { CLIENT_LIMITS } from './constants/limits.js';

/** True for a usable run or session id: it is in file names, URLs and search queries. */
export function isRunId(text: string): boolean {
  return text.length <= CLIENT_LIMITS.idCharsMax && /^[A-Za-z0-9_:][A-Za-z0-9._:-]*$/u.test(text);
}

/** The id under which a run whose budget is spent asks; `extend` or `deny` answers it. */
export const BUDGET_APPROVAL = 'budget';
