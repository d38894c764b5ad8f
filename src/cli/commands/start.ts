import { printJson, printText, say } from '../display/output.js';
import { ensureBackground } from '../host/background.js';
import type { CliContext } from '../host/context.js';
import { loadConfigFor } from '../host/load-config.js';
import { nameHost } from '../host/name-host.js';
import { type RunOptions, startFromOptions } from '../host/run-options.js';
import { openPlace } from '../host/workplace.js';

/** `start "TASK"`: starts a run and returns. If no worker is running, starts one in the background that exits when no run is open. */
export async function start(task: string, options: RunOptions, { output }: CliContext): Promise<number> {
  const checked = await startFromOptions(task, options);
  // loads from a copy of the environment, because loading removes the keys and the background process needs them
  if (options.worker) await loadConfigFor(checked.input, { ...process.env });
  const place = await openPlace(options, (line) => say(output, line));
  try {
    const { run, executionId, duplicate } = await place.client.start(await nameHost(place, checked));
    const { runId } = run;
    const needsWorker = options.worker && (!duplicate || (await run.describe()).open);
    if (needsWorker && (place.location.kind === 'embedded' || !(await place.hasWorker()))) {
      const { pid, log } = await ensureBackground(place.stateDir, options);
      const logHint = log === undefined ? '' : ` (log: ${log})`;
      say(output, `process ${pid} runs it in the background${logHint}; stop it with: kill ${pid}`);
    }
    const uiUrl = place.runUrl(runId);
    if (options.json) printJson(output, { runId, executionId, uiUrl: uiUrl ?? null });
    else printText(output, runId);
    if (duplicate) say(output, `run ${runId} already exists with the same input`);
    say(output, `follow it with: perdure watch ${runId}${uiUrl === undefined ? '' : `  or at ${uiUrl}`}`);
    return 0;
  } finally {
    await place.close();
  }
}
