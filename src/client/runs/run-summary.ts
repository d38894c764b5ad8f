import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { hashJson } from '../../contracts/digest.js';
import { RunInput } from '../../contracts/schemas/run.js';
import { cutText } from '../../contracts/text/redact.js';
import { escapeMarkdown } from '../../contracts/text/sanitize-text.js';

/** What the Temporal Web UI shows of a run from its first moment; sizes are those of Temporal's API documentation. */
export interface RunSummary {
  /** One line of Markdown, at most 400 bytes. */
  readonly staticSummary: string;
  /** Markdown, at most 20,000 bytes. */
  readonly staticDetails: string;
}

const SUMMARY_BYTES_MAX = 400;
const DETAILS_BYTES_MAX = 20_000;
const TITLE_CHARS_MAX = 120;

/** Summary and details of a run for its operator. Text of users is escaped: it must not look like ours. */
export function summarizeRun(input: RunInput): RunSummary {
  const agent = `**${escapeMarkdown(input.agent ?? 'default')}**`;
  const facts = [
    ['agent', input.agent],
    ['model', input.model],
    ['turns at most', input.maxTurns],
    ['cost at most', input.maxCostUsd === undefined ? undefined : `${input.maxCostUsd} USD`],
    ['workspace', input.context?.workspace],
    ['session', input.session],
    ['continues', input.continuedFrom],
  ].flatMap(([name, value]) => (value === undefined ? [] : [`- ${name}: ${escapeMarkdown(String(value))}`]));
  const task = `> ${escapeMarkdown(taskText(input)).replaceAll('\n', '\n> ')}`;
  const advice =
    'Queries `progress`, `events` and `approvals` tell where it stands; signals `steer`, `pause`, `resume`, `hold`, `release` and `cancel` ' +
    'direct it; updates `approve`, `deny` and `extend` answer what it asks.';
  return {
    staticSummary: cutText(`${agent} ${escapeMarkdown(taskTitle(input))}`, SUMMARY_BYTES_MAX),
    staticDetails: [...facts, '', cutText(task, DETAILS_BYTES_MAX - 4_000), '', advice].join('\n'),
  };
}

/** A run's task on one line, at most 120 characters. */
function taskTitle(input: Pick<RunInput, 'task'>): string {
  const line = taskText(input)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return line.length <= TITLE_CHARS_MAX ? line : `${line.slice(0, TITLE_CHARS_MAX - 1)}…`.toWellFormed();
}

/** A readable id that no other run has: `run-20260131-154502-3f9a1c7e`, in UTC. */
export function newRunId(now: Date = new Date()): string {
  const [date = '', time = ''] = now.toISOString().split('T');
  return `run-${date.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}-${randomBytes(4).toString('hex')}`;
}

function taskText(input: Pick<RunInput, 'task'>): string {
  if (typeof input.task === 'string') return input.task;
  return input.task.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n');
}

/**
 * What a run carries beside its history, readable without a worker: whether another start means the same run, what a list shows, and
 * what `continue` takes over. Runs started by other clients have none.
 */
export const RunMemo = z.object({
  inputHash: z.string(),
  task: z.string(),
  /** The input without its task and messages: small, whatever the run works on. */
  options: RunInput.omit({ task: true, messages: true }),
});
export type RunMemo = z.infer<typeof RunMemo>;

/** The memo of a checked input. */
export function memoOf(input: RunInput): RunMemo {
  const { task: _task, messages: _messages, ...options } = input;
  return { inputHash: hashJson(input), task: taskTitle(input), options };
}
