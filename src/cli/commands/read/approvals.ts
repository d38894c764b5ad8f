import type { WaitingApproval, WaitingQuestion } from '../../../client/runs/list-approvals.js';
import { ASK_TOOL } from '../../../contracts/text/ids.js';
import { visibleJson } from '../../../contracts/text/sanitize-text.js';
import { answerCommands, decisionCommands } from '../../display/approval-hints.js';
import { formatDuration } from '../../display/format.js';
import { printJson, printText, say } from '../../display/output.js';
import { terminalLine } from '../../display/terminal-text.js';
import type { WorkerWait } from '../../host/ask-worker.js';
import type { CliContext } from '../../host/context.js';
import type { JsonOptions } from '../../host/run-verb.js';
import { wakeWorker } from '../../host/wake-worker.js';
import { noSuchRun, openPlaceIfThere, type Place } from '../../host/workplace.js';

/** `approvals [RUN]`: lists the pending approvals and questions of one run or of all open runs, with the commands that end them. */
export async function approvals(runId: string | undefined, options: JsonOptions, { output, interrupts }: CliContext): Promise<number> {
  const tell = (line: string): void => say(output, line);
  const place = await openPlaceIfThere(options, tell);
  if (!place && runId !== undefined) throw noSuchRun(runId);
  try {
    const { waiting, questions } = place ? await waitingIn(place, runId, { tell, signal: interrupts.signal }) : NONE;
    const now = Date.now();
    const texts = [
      ...(waiting.length > 0 ? [formatApprovals(waiting, now)] : []),
      ...questions.map((question) => formatQuestion(question, now)),
    ];
    if (options.json) printJson(output, [...waiting.map(listed), ...questions.map(listedQuestion)]);
    else if (texts.length > 0) printText(output, texts.join('\n'));
    else say(output, 'no pending approvals');
    return 0;
  } finally {
    await place?.close();
  }
}

/** Formats each approval with its call, the rule that requires it, and the commands that decide it. Pure. */
export function formatApprovals(waiting: readonly WaitingApproval[], now: number): string {
  return waiting
    .map(({ runId, callId, title, args, askedBy, reason, since, expires }) =>
      [
        `${runId} ${callId}: ${terminalLine(title)}`,
        `  arguments    ${visibleJson(JSON.stringify(args))}`,
        `  required by  ${terminalLine(askedBy)}${reason === undefined ? '' : `: ${terminalLine(reason)}`}`,
        `  pending for  ${formatDuration(now - Date.parse(since))}${expires === undefined ? '' : `, expires ${expires}`}`,
        `  decide       ${decisionCommands(runId, callId)}`,
      ].join('\n'),
    )
    .join('\n');
}

/** Formats a question with its choices and the commands that end it. Pure. */
export function formatQuestion({ runId, callId, question, choices = [], askedBy, since, expires }: WaitingQuestion, now: number): string {
  return [
    `${runId} ${callId}: ${terminalLine(question)}`,
    ...choices.map((choice, index) => `  ${`${index + 1}.`.padStart(11)}  ${terminalLine(choice)}`),
    `  asked by     ${terminalLine(askedBy)}`,
    `  pending for  ${formatDuration(now - Date.parse(since))}, expires ${expires}`,
    `  answer       ${answerCommands(runId, callId)}`,
  ].join('\n');
}

/** What people are waited for. */
interface Waiting {
  readonly waiting: readonly WaitingApproval[];
  readonly questions: readonly WaitingQuestion[];
}

const NONE: Waiting = { waiting: [], questions: [] };

async function waitingIn(place: Place, runId: string | undefined, wait: WorkerWait): Promise<Waiting> {
  if (runId === undefined) return await waitingInAll(place, wait);
  const run = place.client.get(runId);
  // a closed run has no pending approvals, so no worker is started for it
  if (!(await run.describe()).open) return NONE;
  await wakeWorker(place, run, wait);
  const { pending, questions = [] } = await run.approvals();
  return { waiting: pending.map((approval) => ({ runId, ...approval })), questions: questions.map((question) => ({ runId, ...question })) };
}

async function waitingInAll(place: Place, wait: WorkerWait): Promise<Waiting> {
  const [open] = await place.client.list({ status: 'open', limit: 1 });
  if (open) await wakeWorker(place, place.client.get(open.runId), wait);
  return { waiting: await place.client.approvals(), questions: await place.client.questions() };
}

function listed({ runId, callId, tool, args, since, expires }: WaitingApproval): object {
  return { runId, callId, tool, args, since, ...(expires === undefined ? {} : { expires }) };
}

function listedQuestion({ runId, callId, question, choices, since, expires }: WaitingQuestion): object {
  return { runId, callId, tool: ASK_TOOL, question, ...(choices === undefined ? {} : { choices }), since, expires };
}
