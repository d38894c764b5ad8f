import type { ContinueOptions } from '../../client/runs/continue-run.js';
import { checkRunInput, checkText } from '../../client/validate/run-input.js';
import type { LoadedConfig } from '../../worker/config/load-config.js';
import type { CliContext } from '../host/context.js';
import { createDisplay, followRun } from '../host/follow-run.js';
import { untilInterrupted } from '../host/interrupts.js';
import { loadConfigFor, loadConfigHere } from '../host/load-config.js';
import { checkShowOptions, type InputOptions, inputFromOptions, type ShowOptions } from '../host/run-options.js';
import { serveWhile } from '../host/serve.js';
import { noSuchRun, openPlaceIfThere, type PlaceOptions } from '../host/workplace.js';
import { detachHint } from './run.js';

/** The options of `continue`. */
export interface ContinueCommandOptions extends PlaceOptions, ShowOptions, InputOptions {
  /** False with `--no-worker`. */
  readonly worker: boolean;
}

/** `continue RUN ["TEXT"]`: continues a closed run as a new run with new limits, and follows the new run. */
export async function continueRun(
  runId: string,
  text: string | undefined,
  options: ContinueCommandOptions,
  context: CliContext,
): Promise<number> {
  checkShowOptions(options);
  const overrides = await continueOptions(text, options);
  const config = options.worker ? await loadConfig(overrides) : undefined;
  const display = createDisplay(context.output, options);
  const say = (line: string): void => display.say(line);
  const place = await openPlaceIfThere(options, say, config);
  if (!place) throw noSuchRun(runId);
  try {
    const old = place.client.get(runId);
    const { model } = await old.describe();
    if (config) await checkOverrides(config, { model, ...overrides });
    const serving = { place, config, say, terminated: context.interrupts.terminated };
    return await serveWhile(serving, async (ready) => {
      // only a worker can read the transcript of the closed run
      await Promise.race([ready, untilInterrupted(context.interrupts)]);
      const { run, duplicate } = await old.continue(overrides);
      const again = duplicate ? ' already (another text starts another run)' : '';
      display.say(`run ${run.runId} continues ${runId}${again}  ${place.runUrl(run.runId) ?? ''}`);
      return await followRun(run, context, display, { ...options, detachHint: detachHint(run.runId, place) });
    });
  } finally {
    display.end();
    await place.close();
  }
}

/** Checks the options before any request to a server, with the same errors as `run`. */
async function continueOptions(text: string | undefined, options: InputOptions): Promise<ContinueOptions> {
  const { task: _task, v: _version, ...input } = checkRunInput({ task: 'x', ...(await inputFromOptions(options)) });
  return text === undefined ? input : { ...input, text: checkText(text) };
}

/** The options of the closed run were checked at its start, so only the new ones are checked. */
async function loadConfig({ model, fallbacks, thinking }: ContinueOptions): Promise<LoadedConfig> {
  return model === undefined ? await loadConfigHere() : await loadConfigFor({ model, fallbacks, thinking });
}

/** Checks new fallbacks and a new thinking level against the model of the closed run, which only the server has. */
async function checkOverrides(config: LoadedConfig, { model, fallbacks, thinking }: ContinueOptions): Promise<void> {
  if (fallbacks === undefined && thinking === undefined) return;
  const { checkRun } = await import('../../worker/config/preflight.js');
  await checkRun(config, { model, fallbacks, thinking });
}
