import type { PendingCall, RunDescription } from '../../client/runs/describe-run.js';
import type { WaitingQuestion } from '../../client/runs/list-approvals.js';
import { DECISION_LIMITS } from '../../contracts/constants/limits.js';
import type { PendingApproval } from '../../contracts/schemas/approval.js';
import type { UnreadMessage } from '../../contracts/schemas/page.js';
import type { CoolingModel, Progress, RunResult } from '../../contracts/schemas/run.js';
import type { Step } from '../../contracts/schemas/step.js';
import { BUDGET_APPROVAL } from '../../contracts/text/ids.js';
import { jsonLine } from '../../contracts/text/sanitize-text.js';
import { answerCommands, decisionCommands } from './approval-hints.js';
import { formatDuration, formatNumberOf, formatTime, formatUsage } from './format.js';
import { type SubagentNode, subagentLines } from './subagent-tree.js';
import { terminalLine } from './terminal-text.js';

/** The data that `show` prints. */
export interface ShownRun {
  readonly described: RunDescription;
  readonly progress: Progress | undefined;
  readonly result: RunResult | undefined;
  readonly uiUrl: string | undefined;
  /** Pending approvals. */
  readonly waiting: readonly PendingApproval[];
  /** Pending questions, also of sub-agents at work. */
  readonly questions: readonly WaitingQuestion[];
  /** The recent turns, oldest first. */
  readonly steps: readonly Step[];
  /** The sub-agents, with their own. */
  readonly subagents: readonly SubagentNode[];
  /** Messages that wait, or that the run ended without. */
  readonly unread: readonly UnreadMessage[];
}

/** The number of unread messages that are shown, and the beginning of each. */
const UNREAD_SHOWN = 5;
const UNREAD_CHARS_SHOWN = 120;

type Fact = readonly [name: string, value: string | undefined];

/** Formats a run: one fact per line, then the output. Pure. */
export function formatShown({ described, progress, result, uiUrl, waiting, questions, steps, subagents, unread }: ShownRun): string {
  const facts: Fact[] = [
    ['run', described.runId],
    ['status', progress?.status ?? described.status],
    ['task', described.task],
    ['agent', agentsLine(progress) ?? described.agent],
    ['model', progress?.model ?? described.model],
    ['turn', progress && `${progress.turn} of ${progress.maxTurns}${described.open ? ` (${progress.phase})` : ''}`],
    ['waiting for', progress?.waitingFor],
    ...(progress?.cooling ?? []).map((cooling): Fact => ['cooling down', coolingLine(cooling)]),
    ...waiting.flatMap((approval) => approvalFacts(described.runId, approval)),
    ...questions.flatMap((question) => questionFacts(question)),
    ['last decision', progress?.lastDecision && terminalLine(progress.lastDecision)],
    ['tool', progress?.tool],
    ['last tool', progress?.tool === undefined ? progress?.lastTool : undefined],
    ...subagentLines(subagents).map((line): Fact => ['sub-agent', line]),
    ...unknownFacts(result, progress),
    ['usage', progress && formatUsage(progress.usage, progress.costUsd)],
    ...modelFacts(result),
    ['queued', progress && progress.inbox > 0 ? formatNumberOf(progress.inbox, 'message') : undefined],
    ...unreadFacts(unread),
    ...described.pending.map((call): Fact => ['call', pendingLine(call)]),
    ...stepFacts(steps),
    ['started', described.startedAt],
    ['ended', described.closedAt],
    ['error', result?.error && `${result.error.type}: ${result.error.message}`],
    ['web ui', uiUrl],
  ];
  const lines = facts.flatMap(([name, value]) => (value === undefined ? [] : [`${name.padEnd(FACT_WIDTH)}${value}`]));
  return result && result.output !== '' ? [...lines, '', result.output].join('\n') : lines.join('\n');
}

/** The agent at work, behind those that handed the run over. */
function agentsLine(progress: Progress | undefined): string | undefined {
  return progress && terminalLine((progress.agents ?? [progress.agent]).join(' → '));
}

const FACT_WIDTH = 15;

/** The number of turns that are shown. Query `steps` returns all of them. */
const STEPS_SHOWN = 5;

/** The number of model switches that are shown. The result contains all of them. */
const SWITCHES_SHOWN = 5;

/** The calls whose outcome is unknown: their ids in a result, their number in a running agent. */
function unknownFacts(result: RunResult | undefined, progress: Progress | undefined): Fact[] {
  const ids = result?.unknownOutcomes ?? [];
  const count = result ? ids.length : (progress?.unknownOutcomes ?? 0);
  if (count === 0) return [];
  const named = ids.length === 0 ? '' : `: ${terminalLine(ids.join(', '))}`;
  return [['unknown', `the outcome of ${formatNumberOf(count, 'call')}, which may have taken effect${named}`]];
}

function approvalFacts(runId: string, { callId, title, args, askedBy, reason }: PendingApproval): Fact[] {
  const why = `required by ${terminalLine(askedBy)}${reason === undefined ? '' : `: ${terminalLine(reason)}`}`;
  return [
    ['approval', `${terminalLine(title)} (${callId}), ${why}`],
    ...(callId === BUDGET_APPROVAL ? [] : [['arguments', jsonLine(args, DECISION_LIMITS.argsInLineBytesMax)] as const]),
    ['decide', decisionCommands(runId, callId)],
  ];
}

function questionFacts({ runId, callId, question, choices = [], askedBy }: WaitingQuestion): Fact[] {
  const asker = askedBy === 'agent' ? '' : `, asked by ${terminalLine(askedBy)}`;
  return [
    ['question', `${terminalLine(question)} (${callId})${asker}`],
    ...choices.map((choice, index): Fact => ['', `${index + 1}. ${terminalLine(choice)}`]),
    ['answer', answerCommands(runId, callId)],
  ];
}

function coolingLine({ model, credential, until, why }: CoolingModel): string {
  const key = credential === undefined ? '' : ` with ${terminalLine(credential)}`;
  return `${terminalLine(model)}${key} until ${formatTime(until)}: ${terminalLine(why)}`;
}

/** The usage of each model, if several were used, and the last switches between models. */
function modelFacts({ byModel = [], switches = [] }: Pick<RunResult, 'byModel' | 'switches'> = {}): Fact[] {
  const spent = byModel.length > 1 ? byModel : [];
  return [
    ...spent.map(({ model, calls, usage, costUsd }): Fact => {
      return ['  by model', `${terminalLine(model)}, ${formatNumberOf(calls, 'call')}, ${formatUsage(usage, costUsd)}`];
    }),
    ...switches.slice(-SWITCHES_SHOWN).map(({ turn, from, to, why }): Fact => {
      return ['switched', `turn ${turn}: ${terminalLine(from)} → ${terminalLine(to)}: ${terminalLine(why)}`];
    }),
  ];
}

function unreadFacts(unread: readonly UnreadMessage[]): Fact[] {
  const more = unread.length - UNREAD_SHOWN;
  const shown = unread.slice(0, UNREAD_SHOWN).map(({ id, text }): Fact => {
    const line = terminalLine(text.slice(0, UNREAD_CHARS_SHOWN).toWellFormed());
    return ['unread', `${terminalLine(id)}: ${line}${text.length > UNREAD_CHARS_SHOWN ? '…' : ''}`];
  });
  return more > 0 ? [...shown, ['unread', `${more} more`]] : shown;
}

function stepFacts(steps: readonly Step[]): Fact[] {
  const earlier = steps.length - STEPS_SHOWN;
  const shown = steps.slice(-STEPS_SHOWN).map((step): Fact => [`turn ${step.index + 1}`, stepLine(step)]);
  return earlier > 0 ? [['turns', `${earlier} earlier`], ...shown] : shown;
}

/** The signature ends in a hash that distinguishes calls of the same tools. The hash is not shown. */
function stepLine({ status, durationMs, usage, toolSignature, unknownOutcomes = 0 }: Step): string {
  const parts = [
    status,
    ...(unknownOutcomes === 0 ? [] : [`${unknownOutcomes} of unknown outcome`]),
    ...(durationMs === undefined ? [] : [formatDuration(durationMs)]),
    ...(usage === undefined ? [] : [formatUsage(usage, undefined)]),
    ...(toolSignature === undefined ? [] : [terminalLine(toolSignature.replace(/#[0-9a-f]*$/u, ''))]),
  ];
  return parts.join(', ');
}

function pendingLine({ activity, attempt, started, lastFailure }: PendingCall): string {
  const state = started ? 'running' : 'waiting';
  return `${activity}, attempt ${attempt}, ${state}${lastFailure === undefined ? '' : `, last failure: ${lastFailure}`}`;
}
