import type { ExtendInput } from '../contracts/schemas/run.js';
import { capOf } from './operator/validate-extension.js';
import type { Run } from './state/run.js';

/** What to send with update `extend` to a run whose caps are spent: of each that is, as much again, within what a run may have. */
export function suggestExtension(run: Run): ExtendInput {
  return Object.fromEntries(
    run.spentCaps().map((name) => {
      const { present = 0, most } = capOf(run, name);
      return [name, Math.min(present, most - present)];
    }),
  );
}
