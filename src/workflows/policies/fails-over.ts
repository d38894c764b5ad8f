import { failureScope } from '../../contracts/cooldown-step.js';

/**
 * Is this failure a reason to ask another model or key? Limits, overload, silence and refused keys are; what is wrong with the request
 * itself would fail everywhere. Pure.
 */
export function failsOver(type: string): boolean {
  return type.startsWith('Timeout.') || failureScope(type) !== 'none';
}
