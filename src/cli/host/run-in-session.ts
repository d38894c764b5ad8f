import { randomUUID } from 'node:crypto';
import { requireAccepted } from '../../client/sessions/require-accepted.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { Reason } from '../../contracts/schemas/run.js';
import type { LoadedConfig } from '../../worker/config/load-config.js';
import { EXIT_CODE_BY_REASON, printResult } from '../display/result.js';
import type { RunDisplay } from '../display/run-display.js';
import { askWorker } from './ask-worker.js';
import { type CliContext, keysOf } from './context.js';
import { EXIT_CODE_DETACHED, untilInterrupted } from './interrupts.js';
import type { RunOptions } from './run-options.js';
import { serveWhile } from './serve.js';
import { answerOf } from './session-answer.js';
import { sessionFromOptions } from './session-options.js';
import { openPlace } from './workplace.js';

/** A task for a session. */
export interface SessionTask {
  readonly key: string;
  readonly task: string;
  readonly options: RunOptions;
  readonly config: LoadedConfig | undefined;
  readonly display: RunDisplay;
}

/**
 * `run --session KEY`: sends the task as a `followup` message, whose id is `--id`, follows the run that answers it and prints its result. The
 * other options count when the message starts the session.
 */
export async function runInSession({ key, task, options, config, display }: SessionTask, context: CliContext): Promise<number> {
  const { output, interrupts } = context;
  const { id = randomUUID(), session: _, detach: _detach, ...others } = options;
  const given = await sessionFromOptions(others);
  const say = (line: string): void => display.say(line);
  const place = await openPlace(options, say, config);
  try {
    return await serveWhile({ place, config, say, terminated: interrupts.terminated }, async (ready) => {
      await Promise.race([ready, untilInterrupted(interrupts)]);
      const session = place.client.session(key, given);
      const wait = { tell: say, signal: interrupts.signal };
      const receipt = requireAccepted(await askWorker(place, () => session.send({ id, text: task, queue: 'followup' }), wait));
      say(`session ${key}, message ${id}${receipt.duplicate ? ' (already accepted)' : ''}`);
      const { result, reason, problem } = await answerOf(
        { client: place.client, session, id },
        { display, signal: interrupts.signal, keys: keysOf(context, options) },
      );
      display.end();
      if (problem !== undefined) throw new PerdureError('MESSAGE_DROPPED', problem, 4);
      if (!result || reason === undefined) {
        output.stderr.write(`detached; session ${key} is kept: perdure session ${key}\n`);
        return EXIT_CODE_DETACHED[interrupts.kind ?? 'ctrl-c'];
      }
      if (!options.events)
        printResult(output, result, {
          json: options.json ?? false,
          shown: output.stdout.isTTY === true && display.hasShown(result.output),
        });
      return EXIT_CODE_BY_REASON[reason as Reason];
    });
  } finally {
    display.end();
    await place.close();
  }
}
