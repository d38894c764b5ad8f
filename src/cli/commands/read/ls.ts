import type { ListOptions, RunListItem } from '../../../client/runs/list-runs.js';
import type { SessionCost } from '../../../client/runs/session-cost.js';
import { PerdureError } from '../../../contracts/perdure-error.js';
import { RunStatus } from '../../../contracts/schemas/run.js';
import { readDuration } from '../../../contracts/text/duration.js';
import { echoValue } from '../../../contracts/text/echo-value.js';
import { formatCost, formatDuration, formatNumberOf, formatTable } from '../../display/format.js';
import { printJson, printText, say } from '../../display/output.js';
import { terminalLine } from '../../display/terminal-text.js';
import type { CliContext } from '../../host/context.js';
import { openPlaceIfThere, type PlaceOptions } from '../../host/workplace.js';

/** The options of `ls`. */
export interface LsOptions extends PlaceOptions {
  readonly json?: boolean;
  readonly open?: boolean;
  readonly closed?: boolean;
  readonly session?: string;
  readonly tenant?: string;
  readonly agent?: string;
  readonly status?: string;
  readonly since?: string;
  readonly limit?: number | string;
}

/** `ls`: lists the runs of the task queue, newest first. With `--session`, also prints their total cost. */
export async function ls(options: LsOptions, { output }: CliContext): Promise<number> {
  const filter = listOptions(options);
  const place = await openPlaceIfThere(options, (line) => say(output, line));
  try {
    const items = place ? await place.client.list(filter) : [];
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

function noneFound(options: LsOptions): string {
  const of = (['session', 'tenant', 'agent', 'status'] as const).flatMap((name) => {
    const value = options[name];
    return value === undefined ? [] : [`${name} "${value}"`];
  });
  const since = options.since === undefined ? '' : ` since ${options.since}`;
  if (of.length === 0 && since === '') return "no runs found; start one with: perdure run 'TASK'";
  return `no runs${of.length === 0 ? '' : ` of ${of.join(' and ')}`} found${since}`;
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

function listOptions({ open, closed, status, limit, session, tenant, agent, since }: LsOptions): ListOptions {
  const openOrClosed = open === closed ? undefined : open ? 'open' : 'closed';
  if (status !== undefined && openOrClosed !== undefined)
    throw new PerdureError('BAD_OPTION', `--status and --${openOrClosed} exclude each other`, 2);
  const wanted = status === undefined ? openOrClosed : readStatus(status);
  return {
    ...(session === undefined ? {} : { session }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(agent === undefined ? {} : { agent }),
    ...(since === undefined ? {} : { since: readSince(since, Date.now()) }),
    ...(wanted === undefined ? {} : { status: wanted }),
    ...(limit === undefined ? {} : { limit: typeof limit === 'number' ? limit : Number.NaN }),
  };
}

function readStatus(given: string): RunStatus {
  const { data } = RunStatus.safeParse(given);
  if (data !== undefined) return data;
  throw new PerdureError('BAD_OPTION', `--status: one of ${RunStatus.options.join(', ')}, got ${echoValue(given)}`, 2);
}

/** A duration before now, such as `2h`, or a time in ISO 8601. */
function readSince(given: string, now: number): string {
  const ms = readDuration(given);
  const time = new Date(ms === undefined ? given : now - ms);
  if (!Number.isNaN(time.getTime())) return time.toISOString();
  throw new PerdureError(
    'BAD_OPTION',
    `--since: a duration such as 2h or 3d, or a time such as 2030-01-31T08:00Z, got ${echoValue(given)}`,
    2,
  );
}
