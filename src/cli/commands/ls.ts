import type { RunListItem } from '../../client/run-list.js';
import type { CliContext } from '../cli-context.js';
import { formatDuration } from '../format-amounts.js';
import { formatTable } from '../format-table.js';
import { printJson, printText, say } from '../output.js';
import { openPlaceIfThere, type PlaceOptions } from '../place.js';
import { terminalLine } from '../terminal-text.js';

/** The options of `ls`. */
export interface LsOptions extends PlaceOptions {
  readonly json?: boolean;
  readonly open?: boolean;
  readonly closed?: boolean;
  readonly limit?: number | string;
}

/** `ls`: the runs of this folder's queue, newest first. */
export async function ls(options: LsOptions, { output }: CliContext): Promise<number> {
  const place = await openPlaceIfThere(options, (line) => say(output, line));
  try {
    const items = place ? await place.client.list(listOptions(options)) : [];
    if (options.json) printJson(output, items);
    else if (items.length > 0) printText(output, formatList(items, Date.now()));
    else say(output, "no runs here; start one with: perdure run 'TASK'");
    return 0;
  } finally {
    await place?.close();
  }
}

/** Rows of id, status, age and task under a heading. Pure. */
export function formatList(items: readonly RunListItem[], now: number): string {
  const rows = items.map((item) => [
    item.runId,
    item.status,
    `${formatDuration(now - Date.parse(item.startedAt))} ago`,
    terminalLine(item.task ?? ''),
  ]);
  return formatTable(['RUN', 'STATUS', 'STARTED', 'TASK'], rows);
}

function listOptions({ open, closed, limit }: LsOptions): { status?: 'open' | 'closed'; limit?: number } {
  return {
    ...(open === closed ? {} : { status: open ? ('open' as const) : ('closed' as const) }),
    ...(limit === undefined ? {} : { limit: typeof limit === 'number' ? limit : Number.NaN }),
  };
}
