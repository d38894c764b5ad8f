import type { RunHandle } from '../../../client/run-handle.js';
import type { EventPage, RunEvent } from '../../../contracts/event.js';
import { PerdureError } from '../../../contracts/perdure-error.js';
import { echoValue } from '../../../contracts/text/echo-value.js';
import { eventLine } from '../../display/event-line.js';
import { formatTime } from '../../display/format.js';
import { printJson, printText, say } from '../../display/output.js';
import { terminalLine } from '../../display/terminal-text.js';
import type { CliContext } from '../../host/context.js';
import { type ReadOptions, readRun } from './read-run.js';

/** The options of `events`. */
export interface EventsOptions extends ReadOptions {
  readonly after?: number | string;
  readonly type?: readonly string[];
}

/** `events RUN`: prints the events of a run that are kept, oldest first. With `--json` one document: `first`, `next` and `events`. */
export async function events(runId: string, { json, after = 0, type, ...where }: EventsOptions, context: CliContext): Promise<number> {
  const from = checkAfter(after);
  const page = await readRun(runId, where, context, async (run) => await readAll(run, from));
  const shown = type === undefined ? page.events : page.events.filter((event) => type.includes(event.type));
  if (page.first > from + 1) say(context.output, `events ${from + 1} to ${page.first - 1} are no longer kept`);
  if (json) printJson(context.output, { ...page, events: shown });
  else if (shown.length > 0) printText(context.output, shown.map(formatEvent).join('\n'));
  else say(context.output, `run ${runId} has no such events`);
  return 0;
}

async function readAll(run: RunHandle, after: number): Promise<EventPage> {
  const read: RunEvent[] = [];
  let page = await run.events({ after });
  const { first } = page;
  for (; page.events.length > 0; page = await run.events({ after: page.next })) read.push(...page.events);
  return { first, next: page.next, events: read };
}

function checkAfter(after: number | string): number {
  if (typeof after === 'number' && Number.isInteger(after) && after >= 0) return after;
  throw new PerdureError('BAD_OPTION', `--after: integer of at least 0, got ${echoValue(after)}`, 2);
}

/** `12  14:03:07  model.completed`, with what the live view says of the event. */
function formatEvent(event: RunEvent): string {
  const { seq, at, type } = event;
  const text = eventLine(event);
  return [
    String(seq).padStart(4),
    formatTime(new Date(at).toISOString()),
    terminalLine(type),
    ...(text === undefined ? [] : [text.trim()]),
  ].join('  ');
}
