import { printJson, printText, say } from '../display/output.js';
import { ensureBackground } from '../host/background.js';
import type { CliContext } from '../host/context.js';
import { loadConfigFor } from '../host/load-config.js';
import { type RunOptions, startFromOptions } from '../host/run-options.js';
import { openPlace } from '../host/workplace.js';

/** `start "TASK"`: starts a run and comes back. Where no worker lives, one in the background works until no run is open. */
export async function start(task: string, options: RunOptions, { output }: CliContext): Promise<number> {
  const checked = await startFromOptions(task, options);
  // a copy of the environment: the process in the background needs the keys too
  if (options.worker) await loadConfigFor(checked.input, { ...process.env });
  const place = await openPlace(options, (line) => say(output, line));
  try {
    const { run, executionId, duplicate } = await place.client.start({ ...checked.input, id: checked.id });
    const { runId } = run;
    const needsWorker = options.worker && (!duplicate || (await run.describe()).open);
    if (needsWorker && (place.location.kind === 'embedded' || !(await place.hasWorker()))) {
      const { pid, log } = await ensureBackground(place.stateDir, options);
      const where = log === undefined ? '' : `, log in ${log}`;
      say(output, `process ${pid} works on it in the background until no run is open${where}; stop it with: kill ${pid}`);
    }
    const uiUrl = place.runUrl(runId);
    if (options.json) printJson(output, { runId, executionId, uiUrl: uiUrl ?? null });
    else printText(output, runId);
    if (duplicate) say(output, `run ${runId} was there already, with the same input`);
    say(output, `watch it with: perdure watch ${runId}${uiUrl === undefined ? '' : `  or at ${uiUrl}`}`);
    return 0;
  } finally {
    await place.close();
  }
}
