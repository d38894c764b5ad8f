import type { SessionListItem } from '../../../client/sessions/list-sessions.js';
import { formatDuration, formatTable } from '../../display/format.js';
import { printJson, printText, say } from '../../display/output.js';
import { terminalLine } from '../../display/terminal-text.js';
import type { CliContext } from '../../host/context.js';
import { openPlaceIfThere, type PlaceOptions } from '../../host/workplace.js';

/** The options of `sessions`. */
export interface SessionsOptions extends PlaceOptions {
  readonly json?: boolean;
  readonly limit?: number | string;
}

/** `sessions`: lists the sessions of the task queue, newest first. */
export async function sessions({ json, limit, ...where }: SessionsOptions, { output }: CliContext): Promise<number> {
  const place = await openPlaceIfThere(where, (line) => say(output, line));
  try {
    const options = limit === undefined ? {} : { limit: typeof limit === 'number' ? limit : Number.NaN };
    const items = place ? await place.client.sessions(options) : [];
    if (json) printJson(output, items);
    else if (items.length > 0) printText(output, formatSessions(items, Date.now()));
    else say(output, "no sessions found; start one with: perdure chat --session KEY, or perdure send KEY 'TEXT'");
    return 0;
  } finally {
    await place?.close();
  }
}

/** Rows of key, status, agent and age under a heading. Pure. */
export function formatSessions(items: readonly SessionListItem[], now: number): string {
  const rows = items.map(({ key, status, agent, startedAt }) => [
    terminalLine(key),
    status,
    terminalLine(agent ?? '–'),
    `${formatDuration(now - Date.parse(startedAt))} ago`,
  ]);
  return formatTable(['SESSION', 'STATUS', 'AGENT', 'STARTED'], rows);
}
