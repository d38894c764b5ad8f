import type { ListOptions, RunListItem } from '../../client/runs/list-runs.js';
import type { SessionCost } from '../../client/runs/session-cost.js';
import { formatCost, formatDuration, formatNumberOf, formatTable } from '../display/format.js';
import { printJson, printText, say } from '../display/output.js';
import { terminalLine } from '../display/terminal-text.js';
import type { CliContext } from '../host/context.js';
import { openPlaceIfThere, type PlaceOptions } from '../host/workplace.js';

/** The options of `ls`. */
export interface LsOptions extends PlaceOptions {
  readonly json?: boolean;
  readonly open?: boolean;
  readonly closed?: boolean;
  readonly session?: string;
  readonly tenant?: string;
  readonly limit?: number | string;
}

/** `ls`: lists the runs of the task queue, newest first. With `--session`, also prints their total cost. */
export async function ls(options: LsOptions, { output }: CliContext): Promise<number> {
  const place = await openPlaceIfThere(options, (line) => say(output, line));
  try {
    const items = place ? await place.client.list(listOptions(options)) : [];
    if (options.json) printJson(output, items);
    else if (items.length > 0) printText(output, formatList(items, Date.now()));
    else say(output, noneFound(options));
    if (place && options.session !== undefined && !options.json)
      say(output, formatSession(await place.client.sessionCost(options.session)));
    return 0;
  } finally {
    await place?.close();
  }
}

function noneFound({ session, tenant }: LsOptions): string {
  const of = [...(session === undefined ? [] : [`session "${session}"`]), ...(tenant === undefined ? [] : [`tenant "${tenant}"`])];
  return of.length === 0 ? "no runs found; start one with: perdure run 'TASK'" : `no runs of ${of.join(' and ')} found`;
}

/** Rows of id, status, turns, cost, age and task under a heading. Pure. */
export function formatList(items: readonly RunListItem[], now: number): string {
  const rows = items.map((item) => [
    item.runId,
    item.status,
    String(item.turns ?? '–'),
    item.costUsd === undefined ? '–' : formatCost(item.costUsd),
    `${formatDuration(now - Date.parse(item.startedAt))} ago`,
    terminalLine(item.task ?? ''),
  ]);
  return formatTable(['RUN', 'STATUS', 'TURNS', 'COST', 'STARTED', 'TASK'], rows);
}

/** `session chat-7: 3 runs, 12 turns, $0.0042`. */
function formatSession({ session, runs, turns, costUsd, unpriced }: SessionCost): string {
  const total = `session ${session}: ${formatNumberOf(runs, 'run')}, ${formatNumberOf(turns, 'turn')}, ${formatCost(costUsd)}`;
  return unpriced === 0 ? total : `${total}, without ${formatNumberOf(unpriced, 'run')} of unknown cost`;
}

function listOptions({ open, closed, limit, session, tenant }: LsOptions): ListOptions {
  return {
    ...(session === undefined ? {} : { session }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(open === closed ? {} : { status: open ? ('open' as const) : ('closed' as const) }),
    ...(limit === undefined ? {} : { limit: typeof limit === 'number' ? limit : Number.NaN }),
  };
}
