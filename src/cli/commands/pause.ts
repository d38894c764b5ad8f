import type { CliContext } from '../cli-context.js';
import { type DirectOptions, direct } from './direct.js';

/** `pause RUN`: lets running calls finish and starts no further one. */
export async function pause(runId: string, options: DirectOptions, context: CliContext): Promise<number> {
  return await direct(runId, options, context, async (run) => {
    await run.pause();
    return { answer: { paused: true }, line: `${runId}: pauses when its running calls have finished; go on with: perdure resume ${runId}` };
  });
}
