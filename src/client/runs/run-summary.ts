import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { hashJson } from '../../contracts/digest.js';
import { RunInput } from '../../contracts/schemas/run.js';
import { cutText } from '../../contracts/text/redact.js';
import { escapeMarkdown } from '../../contracts/text/sanitize-text.js';
import { SIGNALS, UPDATES } from '../../contracts/verbs/index.js';

/** The summary and details of a run in the Temporal Web UI. The size limits are from Temporal's API documentation. */
export interface RunSummary {
  /** One line of Markdown, at most 400 bytes. */
  readonly staticSummary: string;
  /** Markdown, at most 20,000 bytes. */
  readonly staticDetails: string;
}

const SUMMARY_BYTES_MAX = 400;
const DETAILS_BYTES_MAX = 20_000;
const TITLE_CHARS_MAX = 120;
const LIST = new Intl.ListFormat('en');

/** Creates the summary and details of a run. User text is escaped, so that it cannot add Markdown. */
export function summarizeRun(input: RunInput): RunSummary {
  const agent = `**${escapeMarkdown(input.agent ?? 'default')}**`;
  const facts = [
    ['agent', input.agent],
    ['model', input.model],
    ['turn limit', input.maxTurns],
    ['cost limit', input.maxCostUsd === undefined ? undefined : `${input.maxCostUsd} USD`],
    ['workspace', input.context?.workspace],
    ['session', input.session],
    ['tenant', input.tenant],
    ['continues', input.continuedFrom],
  ].flatMap(([name, value]) => (value === undefined ? [] : [`- ${name}: ${escapeMarkdown(String(value))}`]));
  const task = `> ${escapeMarkdown(taskText(input)).replaceAll('\n', '\n> ')}`;
  const advice =
    `Queries \`progress\`, \`events\` and \`approvals\` show its state. Signals ${named(SIGNALS)} control it. ` +
    `Updates ${named(UPDATES)} do so and reply.`;
  return {
    staticSummary: cutText(`${agent} ${escapeMarkdown(taskTitle(input))}`, SUMMARY_BYTES_MAX),
    staticDetails: [...facts, '', cutText(task, DETAILS_BYTES_MAX - 4_000), '', advice].join('\n'),
  };
}

/** The task of a run on one line, at most 120 characters. */
function taskTitle(input: Pick<RunInput, 'task'>): string {
  const line = taskText(input)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return line.length <= TITLE_CHARS_MAX ? line : `${line.slice(0, TITLE_CHARS_MAX - 1)}…`.toWellFormed();
}

/** Creates a readable, unique run ID: `run-20260131-154502-3f9a1c7e`, in UTC. */
export function newRunId(now: Date = new Date()): string {
  const [date = '', time = ''] = now.toISOString().split('T');
  return `run-${date.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}-${randomBytes(4).toString('hex')}`;
}

function taskText(input: Pick<RunInput, 'task'>): string {
  if (typeof input.task === 'string') return input.task;
  return input.task.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n');
}

/**
 * The memo of a run, readable without a worker: the hash that detects a duplicate start, the task for lists, and the options that
 * `continue` copies. Runs started by other clients have no memo.
 */
export const RunMemo = z.object({
  inputHash: z.string(),
  task: z.string(),
  /** The input without its task and messages, so that the memo stays small. */
  options: RunInput.omit({ task: true, messages: true }),
});
export type RunMemo = z.infer<typeof RunMemo>;

/** What a run that continued as new adds to its memo: the start of its first execution. Runs of older versions add nothing. */
export const ContinuedMemo = z.object({ startedAt: z.iso.datetime() });

/** Creates the memo of a validated input. */
export function memoOf(input: RunInput): RunMemo {
  const { task: _task, messages: _messages, auth: _auth, ...options } = input;
  return { inputHash: hashJson(withoutHost(input)), task: taskTitle(input), options };
}

/**
 * The input without its signature, and without the name of the host: the command line adds it when that host has a worker, and the run is
 * the same without.
 */
function withoutHost({ auth: _auth, ...input }: RunInput): RunInput {
  if (input.context?.host === undefined) return input;
  const { host: _, ...context } = input.context;
  return { ...input, context };
}

/** The verbs of a table, in its order. */
function named(table: Readonly<Record<string, unknown>>): string {
  return LIST.format(Object.keys(table).map((name) => `\`${name}\``));
}
