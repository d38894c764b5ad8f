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

/** `continue RUN ["TEXT"]`: goes on from where a closed run ended, as a new run with fresh caps, and follows that one. */
export async function continueRun(
  runId: string,
  text: string | undefined,
  options: ContinueCommandOptions,
  context: CliContext,
): Promise<number> {
  checkShowOptions(options);
  const asked = await continueOptions(text, options);
  const config = options.worker ? await loadConfig(asked) : undefined;
  const display = createDisplay(context.output, options);
  const say = (line: string): void => display.say(line);
  const place = await openPlaceIfThere(options, say);
  if (!place) throw noSuchRun(runId);
  try {
    const old = place.client.get(runId);
    const { model } = await old.describe();
    if (config) await checkOthers(config, { model, ...asked });
    const serving = { place, config, say };
    return await serveWhile(serving, async (ready) => {
      // the old transcript is read from a worker
      await Promise.race([ready, untilInterrupted(context.interrupts)]);
      const { run } = await old.continue(asked);
      display.say(`run ${run.runId} goes on from ${runId}  ${place.runUrl(run.runId) ?? ''}`);
      return await followRun(run, context, display, { ...options, detachHint: detachHint(run.runId, place) });
    });
  } finally {
    display.end();
    await place.close();
  }
}

/** Checked before anything is asked of a server, with the same words as for `run`. */
async function continueOptions(text: string | undefined, options: InputOptions): Promise<ContinueOptions> {
  const { task: _task, v: _version, ...input } = checkRunInput({ task: 'x', ...(await inputFromOptions(options)) });
  return text === undefined ? input : { ...input, text: checkText(text) };
}

/** What the old run keeps was checked when it began; only what it is to do otherwise can be wrong now. */
async function loadConfig({ model, fallbacks, thinking }: ContinueOptions): Promise<LoadedConfig> {
  return model === undefined ? await loadConfigHere() : await loadConfigFor({ model, fallbacks, thinking });
}

/** With the model of the old run, which only the server knows. */
async function checkOthers(config: LoadedConfig, { model, fallbacks, thinking }: ContinueOptions): Promise<void> {
  if (fallbacks === undefined && thinking === undefined) return;
  const { checkRun } = await import('../../worker/config/preflight.js');
  await checkRun(config, { model, fallbacks, thinking });
}
