import { checkVerbInput } from '../../../client/validate/run-input.js';
import { SESSION_UPDATES } from '../../../contracts/verbs/index.js';
import { printJson, say } from '../../display/output.js';
import { askOrStartWorker } from '../../host/ask-worker.js';
import type { CliContext } from '../../host/context.js';
import { noSuchSession, openPlaceIfThere, type PlaceOptions } from '../../host/workplace.js';

/** The options of `unsend`. */
export interface UnsendOptions extends PlaceOptions {
  readonly json?: boolean;
}

/** `unsend KEY ID`: withdraws a message that waits in a session. Throws `NO_SUCH_MESSAGE` (3) or `MESSAGE_IN_WORK` (4). */
export async function unsend(
  key: string,
  id: string,
  { json, ...where }: UnsendOptions,
  { output, interrupts }: CliContext,
): Promise<number> {
  const tell = (line: string): void => say(output, line);
  const input = checkVerbInput(SESSION_UPDATES.unsend, { id });
  const place = await openPlaceIfThere(where, tell);
  if (!place) throw noSuchSession(key);
  try {
    const session = place.client.session(key);
    const answer = await askOrStartWorker(place, where, { tell, interrupts, ask: () => session.unsend(input.id) });
    const report = SESSION_UPDATES.unsend.command?.report({ runId: key, input, answer });
    if (json) printJson(output, answer);
    else if (report) tell(report.line);
    return 0;
  } finally {
    await place.close();
  }
}
