import { linkToSupervisor } from '../../worker/supervisor/supervisor-link.js';
import { say } from '../display/output.js';
import type { CliContext } from '../host/context.js';
import type { PlaceOptions } from '../host/workplace.js';

/** The options of `worker`. */
export interface WorkerOptions extends PlaceOptions {
  /** False: the worker runs in this process. */
  readonly supervisor: boolean;
  readonly spare?: boolean;
}

/**
 * `worker`: supervises a worker process until SIGTERM or Ctrl-C, and starts the next one when it dies. The worker process is the same
 * command, which finds the link to its supervisor. With `--no-supervisor`, runs the worker in this process.
 */
export async function worker(options: WorkerOptions, context: CliContext): Promise<number> {
  const tell = (line: string): void => say(context.output, line);
  const link = linkToSupervisor(() => {
    tell('the supervisor of this worker died; the worker stops after its running calls');
    context.interrupts.interrupt('terminate');
  });
  if (!link && options.supervisor) return await superviseWorker(options, context);
  const { runWorker } = await import('../host/run-worker.js');
  try {
    return await runWorker(options, context, link);
  } finally {
    link?.close();
  }
}

async function superviseWorker({ spare = false }: WorkerOptions, { output, interrupts }: CliContext): Promise<number> {
  const { supervise } = await import('../../worker/supervisor/supervise.js');
  return await supervise({
    command: [process.execPath, ...process.execArgv, ...process.argv.slice(1)],
    spare,
    say: (line) => say(output, line),
    stop: interrupts.signal,
  });
}
