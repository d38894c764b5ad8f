import type { RunPolicy } from '../contracts/schemas/policy.js';
import type { HookDefinition, HookPoint } from '../define/define-hook.js';

/** Which hooks of a config the workflow must know of: it asks for them by activities of their own. */
export function hookFlags(hooks: readonly HookDefinition[] = []): RunPolicy['hooks'] {
  const has = (point: HookPoint): boolean => hooks.some(({ on }) => on === point);
  return {
    beforeRun: has('before-run'),
    afterRun: has('after-run'),
    error: has('error'),
    unknownTools: hooks.some(meansUnknownTools),
  };
}

/** A list of plain names means tools that there are; anything wider also those that a model makes up. */
function meansUnknownTools({ on, tools = [] }: HookDefinition): boolean {
  return (on === 'before-tool' || on === 'after-tool') && (tools.length === 0 || tools.some((name) => name.includes('*')));
}
