import { randomUUID } from 'node:crypto';
import { checkSessionInput } from '../../../client/sessions/session-input.js';
import { checkVerbInput } from '../../../client/validate/run-input.js';
import { SESSION_UPDATES } from '../../../contracts/verbs/index.js';
import { printJson, say } from '../../display/output.js';
import { askOrStartWorker } from '../../host/ask-worker.js';
import type { CliContext } from '../../host/context.js';
import { openPlace, type PlaceOptions } from '../../host/workplace.js';

/** The options of `send`. */
export interface SendOptions extends PlaceOptions {
  readonly json?: boolean;
  readonly id?: string;
  readonly queue?: string;
}

/** `send KEY TEXT`: sends a message to a session and prints the receipt. The first message starts the session. */
export async function send(key: string, text: string, options: SendOptions, { output, interrupts }: CliContext): Promise<number> {
  const { json, id = randomUUID(), queue, ...where } = options;
  const tell = (line: string): void => say(output, line);
  const input = checkVerbInput(SESSION_UPDATES.send, { id, text, ...(queue === undefined ? {} : { queue }) });
  checkSessionInput(key, {});
  const place = await openPlace(where, tell);
  try {
    const session = place.client.session(key);
    const receipt = await askOrStartWorker(place, where, { tell, interrupts, ask: () => session.send(input) });
    const report = SESSION_UPDATES.send.command?.report({ runId: key, input, answer: receipt });
    if (json) printJson(output, receipt);
    else if (report) tell(report.line);
    if (receipt.accepted && !json) tell(`see what became of it with: perdure session ${key}`);
    return receipt.accepted ? 0 : 4;
  } finally {
    await place.close();
  }
}
