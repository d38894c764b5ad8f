import type { CompactionStrategy } from '../../../contracts/schemas/policy.js';
import type { Compactor } from './compactor.js';
import { tieredCompactor } from './tiered-compactor.js';
import { trimCompactor } from './trim-compactor.js';

/** The compactor of a strategy that runs in the workflow; undefined for those that need an activity. */
export function compactorFor(strategy: CompactionStrategy): Compactor | undefined {
  switch (strategy) {
    case 'trim':
      return trimCompactor;
    case 'tiered':
      return tieredCompactor;
    case 'summary':
    case 'custom':
      return undefined;
  }
}
