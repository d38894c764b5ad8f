import type { CheckedStart } from '../../client/runs/start-run.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { RunDisplay } from '../display/run-display.js';
import type { CliContext } from '../host/context.js';
import { createDisplay, followRun } from '../host/follow-run.js';
import { untilInterrupted } from '../host/interrupts.js';
import { loadConfigFor } from '../host/load-config.js';
import { nameHost } from '../host/name-host.js';
import { runInSession } from '../host/run-in-session.js';
import { checkShowOptions, type RunOptions, startFromOptions } from '../host/run-options.js';
import { serveWhile } from '../host/serve.js';
import { openPlace, type Place } from '../host/workplace.js';
import { start } from './start.js';

/** `run "TASK"`: starts a run, follows it to its end and exits with a status for its reason. Hosts a worker if no other process does. */
export async function run(task: string, options: RunOptions, context: CliContext): Promise<number> {
  checkShowOptions(options);
  if (options.detach && options.session !== undefined)
    throw new PerdureError('BAD_OPTION', "detach: with --session, use 'perdure send KEY TEXT', which does not wait", 2);
  if (options.detach) return await start(task, options, context);
  const checked = await startFromOptions(task, options);
  const config = options.worker ? await loadConfigFor(checked.input) : undefined;
  const display = createDisplay(context.output, options);
  if (options.session !== undefined) return await runInSession({ key: options.session, task, options, config, display }, context);
  const say = (line: string): void => display.say(line);
  const place = await openPlace(options, say, config);
  try {
    const serving = { place, config, say, terminated: context.interrupts.terminated };
    return await serveWhile(serving, (ready) => startAndFollow({ checked, place, display, options, ready }, context));
  } finally {
    display.end();
    await place.close();
  }
}

interface RunToFollow {
  readonly checked: CheckedStart;
  readonly place: Place;
  readonly display: RunDisplay;
  readonly options: RunOptions;
  readonly ready: Promise<void>;
}

async function startAndFollow({ checked, place, display, options, ready }: RunToFollow, context: CliContext): Promise<number> {
  const { run: handle, duplicate } = await place.client.start(await nameHost(place, checked));
  const url = place.runUrl(handle.runId);
  display.say(`run ${handle.runId}${duplicate ? ' (already exists)' : ''}${url === undefined ? '' : `  ${url}`}`);
  // the worker of an existing run may have died: a query sent before a new worker is ready waits in the sticky queue of the dead one
  if (duplicate) await Promise.race([ready, untilInterrupted(context.interrupts)]);
  return await followRun(handle, context, display, {
    ...options,
    detachHint: detachHint(handle.runId, place),
    onNoWorker: () => {
      if (options.worker) return;
      throw new PerdureError(
        'NO_WORKER',
        `no worker polls queue ${place.taskQueue} (checked 5 s); run ${handle.runId} is kept and starts once a worker connects`,
        5,
      );
    },
  });
}

/** The hint printed after Ctrl-C: how the run continues. */
export function detachHint(runId: string, place: Place): string {
  if (place.location.kind === 'embedded')
    return `detached; run ${runId} is kept and continues with the next perdure command in this folder`;
  return `detached; run ${runId} continues, cancel it with: perdure cancel ${runId}`;
}
