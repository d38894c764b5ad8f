import type { SupervisorLink } from '../../worker/supervisor/supervisor-link.js';
import { say } from '../display/output.js';
import type { CliContext } from './context.js';
import { hostWorker, sayIfOtherConfig } from './host-worker.js';
import { untilInterrupted } from './interrupts.js';
import { loadConfigHere } from './load-config.js';
import { openPlace, type PlaceOptions } from './workplace.js';

/** Runs a worker in this process until it is interrupted, then waits for running calls. Resolves with the exit status. */
export async function runWorker(options: PlaceOptions, context: CliContext, link?: SupervisorLink): Promise<number> {
  const tell = (line: string): void => say(context.output, line);
  const config = await loadConfigHere();
  const place = await openPlace(options, tell, config);
  try {
    const { location, stateDir } = place;
    if (location.kind === 'embedded') await link?.takeTurn({ kind: 'embedded', stateDir }, context.interrupts.signal);
    const hosting = { place, config, say: tell, link, terminated: context.interrupts.terminated };
    await sayIfOtherConfig(hosting);
    const hosted = await hostWorker(hosting);
    try {
      await Promise.race([hosted.ready, untilInterrupted(context.interrupts)]);
      if (!context.interrupts.signal.aborted) tell(workingLine(place));
      await Promise.race([hosted.ended, untilInterrupted(context.interrupts)]);
    } finally {
      await hosted.stop();
    }
    return 0;
  } finally {
    await place.close();
  }
}

function workingLine({ taskQueue, location }: Awaited<ReturnType<typeof openPlace>>): string {
  const where = `worker on queue ${taskQueue} at ${location.address}, namespace ${location.namespace}, in process ${process.pid}`;
  return `${where}; stop it with SIGTERM or Ctrl-C`;
}
