import type { SessionState } from '../../../contracts/schemas/session.js';
import { formatTable } from '../../display/format.js';
import { printJson, printText, say } from '../../display/output.js';
import { terminalLine } from '../../display/terminal-text.js';
import { askOrStartWorker } from '../../host/ask-worker.js';
import type { CliContext } from '../../host/context.js';
import { noSuchSession, openPlaceIfThere, type PlaceOptions } from '../../host/workplace.js';

/** The options of `session`. */
export interface SessionCommandOptions extends PlaceOptions {
  readonly json?: boolean;
}

/** `session KEY`: shows the active run, the queue, the last runs and the dropped messages of a session. */
export async function session(key: string, { json, ...where }: SessionCommandOptions, { output, interrupts }: CliContext): Promise<number> {
  const tell = (line: string): void => say(output, line);
  const place = await openPlaceIfThere(where, tell);
  if (!place) throw noSuchSession(key);
  try {
    const handle = place.client.session(key);
    const state = await askOrStartWorker(place, where, { tell, interrupts, ask: () => handle.query() });
    if (json) printJson(output, state);
    else printText(output, formatSession(state));
    return 0;
  } finally {
    await place.close();
  }
}

/** The state of a session as rows. Pure. */
export function formatSession({ key, active, waitingFor, queued, runs, dropped }: SessionState): string {
  const rows = [
    ['active', active ?? 'none', waitingFor === undefined ? '' : `waiting for ${waitingFor}`],
    ...(queued.length === 0 ? [['queued', 'none', '']] : queued.map(({ id, position, mode }) => ['queued', `${position}: ${id}`, mode])),
    ...runs.map(({ runId, messageIds, reason = 'running' }) => ['run', runId, `${reason}, answers ${messageIds.join(', ')}`]),
    ...dropped.map(({ id, reason }) => ['dropped', id, reason]),
  ];
  return formatTable(
    ['SESSION', terminalLine(key), ''],
    rows.map((row) => row.map(terminalLine)),
  );
}
