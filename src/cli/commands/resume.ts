import type { CliContext } from '../cli-context.js';
import { type DirectOptions, direct } from './direct.js';

/** `resume RUN`: goes on after `pause`. */
export async function resume(runId: string, options: DirectOptions, context: CliContext): Promise<number> {
  return await direct(runId, options, context, async (run) => {
    await run.resume();
    return { answer: { paused: false }, line: `${runId}: goes on` };
  });
}
