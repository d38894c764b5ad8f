import { INPUT_LIMITS } from '../../contracts/constants/limits.js';

/*
 * Ledgers read what anybody who reaches the server can send. A value that is no number, or no positive one, would fail the task of the
 * workflow for ever.
 */

/** True for a finite number above 0. */
export function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0;
}

/** True for an object whose values are all amounts, or undefined. */
export function areAmounts(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((each) => each === undefined || isAmount(each));
}

/** True for the id of a workflow or of a worker. */
export function isId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= INPUT_LIMITS.workflowIdCharsMax;
}
