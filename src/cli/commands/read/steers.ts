import type { SteerRecord } from '../../../contracts/schemas/run.js';
import { formatTable } from '../../display/format.js';
import { printJson, printText, say } from '../../display/output.js';
import { terminalLine } from '../../display/terminal-text.js';
import type { CliContext } from '../../host/context.js';
import { type ReadOptions, readRun } from './read-run.js';

/** `steers RUN`: prints what became of each message that was sent to a run: the finished ones in order, then the waiting ones. */
export async function steers(runId: string, { json, ...where }: ReadOptions, context: CliContext): Promise<number> {
  const records = await readRun(runId, where, context, (run) => run.steers());
  if (json) printJson(context.output, records);
  else if (records.length > 0) printText(context.output, formatSteers(records));
  else say(context.output, `no messages were sent to run ${runId}`);
  return 0;
}

/** Rows of id, state and details under a heading. Pure. */
export function formatSteers(records: readonly SteerRecord[]): string {
  return formatTable(
    ['MESSAGE', 'STATE', 'DETAILS'],
    records.map(({ id, state, turn, into, reason }) => {
      const details = [turn === undefined ? '' : `turn ${turn}`, into === undefined ? '' : `into ${into}`, reason ?? ''];
      return [id, state, details.filter((part) => part !== '').join(', ')].map(terminalLine);
    }),
  );
}
