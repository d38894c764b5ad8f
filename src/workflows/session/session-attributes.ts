import { setCurrentDetails } from '@temporalio/workflow';
import { PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import { cutText } from '../../contracts/text/redact.js';
import { escapeMarkdown } from '../../contracts/text/sanitize-text.js';
import { publishAttributes } from '../operator/progress.js';
import type { Session } from './session.js';

const RUNS_SHOWN = 5;
const QUEUED_SHOWN = 5;

/** Writes what never changes to the search attributes: the key, the agent and the tenant. */
export function publishSession({ input, prepared }: Session): void {
  if (!prepared) return;
  const { key, agent, defaults } = input;
  publishAttributes(
    { prepared },
    {
      AgentSession: key,
      ...(agent === undefined ? {} : { AgentName: agent }),
      ...(defaults?.tenant === undefined ? {} : { AgentTenant: defaults.tenant }),
    },
  );
}

/** Writes the status to the search attributes when it changes. Each write is a history event. */
export function publishStatus(session: Session, status: NonNullable<Session['status']>): void {
  const { prepared } = session;
  if (!prepared || session.status === status) return;
  session.status = status;
  publishAttributes({ prepared }, { AgentStatus: status });
}

/** Shows the session in the Web UI. The text is written when somebody reads it: no command, no history. */
export function serveSessionDetails(session: Session): void {
  const details = { toJSON: () => cutText(detailsOf(session), PAYLOAD_LIMITS.currentDetailsBytesMax) };
  // the SDK takes a text, which would have to be written anew at each step
  setCurrentDetails(details as unknown as string);
}

/** The session as Markdown for operators. */
function detailsOf(session: Session): string {
  const { key, active, queued, runs, dropped, waitingFor } = session.state();
  const { mode, cap, drop } = session.rules;
  const rows = [
    ['Active run', active ?? 'none'],
    ...(waitingFor === undefined ? [] : [['Waiting for', waitingFor]]),
    ['Waiting messages', `${queued.length} of ${cap}, mode ${mode}, at the cap: drop ${drop}`],
    ...queued.slice(0, QUEUED_SHOWN).map(({ id, mode: of }) => ['', `${id} (${of})`]),
    ...runs
      .slice(-RUNS_SHOWN)
      .map(({ runId, messageIds, reason }) => ['Run', `${runId}: ${reason ?? 'at work'}, answers ${messageIds.join(', ')}`]),
    ...dropped.slice(-RUNS_SHOWN).map(({ id, reason }) => ['Dropped', `${id}: ${reason}`]),
  ];
  const table = rows.map(([name = '', value = '']) => `| ${name} | ${escapeMarkdown(value).replaceAll('\n', ' ')} |`).join('\n');
  return `**Session ${escapeMarkdown(key)}**\n\n| | |\n|---|---|\n${table}\n`;
}
