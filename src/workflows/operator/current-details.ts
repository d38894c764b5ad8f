import { workflowInfo } from '@temporalio/workflow';
import { DECISION_LIMITS } from '../../contracts/constants/limits.js';
import { numbered } from '../../contracts/json/question-form.js';
import type { PendingApproval } from '../../contracts/schemas/approval.js';
import type { PendingQuestion } from '../../contracts/schemas/question.js';
import type { Progress } from '../../contracts/schemas/run.js';
import { BUDGET_APPROVAL } from '../../contracts/text/ids.js';
import { escapeMarkdown, jsonLine, markdownCode } from '../../contracts/text/sanitize-text.js';
import type { Run } from '../state/run.js';
import { suggestExtension } from './validate-extension.js';

/** The query `approvals` lists them all. */
const APPROVALS_SHOWN = 4;
const COOLING_SHOWN = 3;
const SUBAGENTS_SHOWN = 5;
const CELL_CHARS_MAX = 400;

/** A row of the table: a name, and Markdown that is safe in a cell. */
type Row = readonly [name: string, value: string];

/**
 * A run as Markdown for its operator: its status, its pending approvals and the update that decides each. The Web UI shows it under *User
 * Metadata*.
 */
export function currentDetails(run: Run, progress: Progress): string {
  const { usage, costUsd, lastDecision } = progress;
  // the Web UI shows about ten rows before it scrolls: pending approvals come first
  const rows: Row[] = [
    ['Status', progress.status],
    ...(run.result?.error ? [['Error', cell(`${run.result.error.type}: ${run.result.error.message}`)] as const] : []),
    ...waitRows(run, progress),
    ...(lastDecision === undefined ? [] : [['Last decision', cell(lastDecision)] as const]),
    ...(progress.agents ? [['Handed over', cell(progress.agents.join(' → '))] as const] : []),
    ['Turn', `${progress.turn} of ${progress.maxTurns}, ${progress.phase}`],
    ['Last tool', cell(progress.lastTool ?? '–')],
    ...unknownRows(progress),
    ...subagentRows(progress),
    ['Queued messages', `${progress.inbox}${run.inbox.isFull ? ', no room for more: INBOX_FULL' : ''}`],
    ['Model', cell(progress.model)],
    ...coolingRows(progress),
    ['Tokens', `${usage.inputTokens} in (${usage.cacheReadTokens} from cache), ${usage.outputTokens} out`],
    ['Cost', costUsd === undefined ? 'unknown price' : `${costUsd.toFixed(4)} USD`],
  ];
  const table = rows.map(([name, value]) => `| ${name} | ${value} |`).join('\n');
  return `**${cell(progress.agent)}**\n\n| | |\n|---|---|\n${table}\n`;
}

function unknownRows({ unknownOutcomes = 0 }: Progress): Row[] {
  return unknownOutcomes === 0 ? [] : [['Unknown outcomes', `${unknownOutcomes}: these calls may have taken effect`]];
}

/** The sub-agents, those at work first. Relationships of the Web UI has them all. */
function subagentRows({ subagents = [] }: Progress): Row[] {
  return subagents.slice(0, SUBAGENTS_SHOWN).map(({ runId, reason }): Row => ['Sub-agent', cell(`${runId}: ${reason ?? 'at work'}`)]);
}

/** The models that are cooling down, until when, and why. */
function coolingRows({ cooling = [] }: Progress): Row[] {
  const shown = cooling.slice(0, COOLING_SHOWN).map(({ model, credential, until, why }): Row => {
    const name = credential === undefined ? model : `${model} (${credential})`;
    return ['Cooling down', cell(`${name} until ${until.slice(11, 19)} UTC: ${why}`)];
  });
  return cooling.length > COOLING_SHOWN ? [...shown, ['', `and ${cooling.length - COOLING_SHOWN} more: query progress`]] : shown;
}

/** The wait of the run, and each pending approval with the update that decides it. */
function waitRows(run: Run, { waitingFor }: Progress): Row[] {
  const { approvals, waits } = run;
  const { pending } = approvals.carry();
  const approvalRows = pending.slice(0, APPROVALS_SHOWN).flatMap((approval): Row[] => [
    ['Pending approval', subjectCell(approval)],
    ['→ send', howToDecide(run, approval)],
  ]);
  if (pending.length > APPROVALS_SHOWN) approvalRows.push(['', `and ${pending.length - APPROVALS_SHOWN} more: query approvals`]);
  // the waiting reason of an approval would repeat its row
  approvalRows.push(...questionRows(run));
  const isOther = waitingFor !== undefined && (approvalRows.length === 0 || waits.paused);
  return isOther ? [['Waiting for', waits.paused ? 'signal resume' : cell(waitingFor)], ...approvalRows] : approvalRows;
}

/** Each pending question with the update that answers it. */
function questionRows(run: Run): Row[] {
  const { pending } = run.questions.list();
  const rows = pending
    .slice(0, APPROVALS_SHOWN)
    .flatMap((question): Row[] => [
      ['Question', cell(question.askedBy === 'agent' ? question.question : `${question.askedBy}: ${question.question}`)],
      ...(question.choices === undefined ? [] : [['Choices', cell(numbered(question.choices))] as const]),
      ['→ send', howToAnswer(run, question)],
    ]);
  const more = pending.length - APPROVALS_SHOWN;
  return more > 0 ? [...rows, ['', `and ${more} more: query approvals`]] : rows;
}

function howToAnswer(run: Run, { callId }: PendingQuestion): string {
  const deny = markdownCode(JSON.stringify({ callId }));
  // the Web UI cannot sign
  if (run.prepared.signed) {
    return `${markdownCode(`perdure answer ${workflowInfo().workflowId} ${callId} "…"`)} on the command line, or update deny ${deny}`;
  }
  return `update answer ${markdownCode(JSON.stringify({ callId, answer: '…' }))}, or deny ${deny}`;
}

function subjectCell({ callId, title, args }: PendingApproval): string {
  if (callId === BUDGET_APPROVAL) return cell(title);
  return `${cell(title)} ${markdownCode(jsonLine(args, DECISION_LIMITS.argsInLineBytesMax))}`;
}

function howToDecide(run: Run, { callId }: PendingApproval): string {
  const named = markdownCode(JSON.stringify({ callId }));
  if (run.prepared.signed) {
    // the Web UI cannot sign
    const command =
      callId === BUDGET_APPROVAL ? `perdure extend ${workflowInfo().workflowId}` : `perdure approve ${workflowInfo().workflowId} ${callId}`;
    return `${markdownCode(command)} on the command line, or update deny ${named}`;
  }
  if (callId !== BUDGET_APPROVAL) return `update approve or deny ${named}`;
  return `update extend ${markdownCode(JSON.stringify(suggestExtension(run)))}, or deny ${named}`;
}

/** Model and tool text must not break out of its table cell, nor be read as a template. */
function cell(text: string): string {
  return escapeMarkdown(text.replaceAll(/\s+/gu, ' ').slice(0, CELL_CHARS_MAX).toWellFormed());
}
