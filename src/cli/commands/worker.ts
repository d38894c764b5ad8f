import { say } from '../display/output.js';
import type { CliContext } from '../host/context.js';
import { hostWorker, sayIfOtherConfig } from '../host/host-worker.js';
import { untilInterrupted } from '../host/interrupts.js';
import { loadConfigHere } from '../host/load-config.js';
import { openPlace, type PlaceOptions } from '../host/workplace.js';

/** `worker`: runs a worker until SIGTERM or Ctrl-C, then waits for running calls. */
export async function worker(options: PlaceOptions, context: CliContext): Promise<number> {
  const tell = (line: string): void => say(context.output, line);
  const config = await loadConfigHere();
  const place = await openPlace(options, tell);
  try {
    const hosting = { place, config, say: tell };
    await sayIfOtherConfig(hosting);
    const hosted = await hostWorker(hosting);
    try {
      await Promise.race([hosted.ready, untilInterrupted(context.interrupts)]);
      tell(
        `worker on queue ${place.taskQueue} at ${place.location.address}, namespace ${place.location.namespace}; stop it with SIGTERM or Ctrl-C`,
      );
      await Promise.race([hosted.ended, untilInterrupted(context.interrupts)]);
    } finally {
      await hosted.stop();
    }
    return 0;
  } finally {
    await place.close();
  }
}
