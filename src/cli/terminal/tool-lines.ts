import type { RunEvent } from '../../contracts/event.js';
import type { ContentPart, JsonValue, ToolCallPart, ToolResultPart } from '../../contracts/schemas/message.js';
import { jsonLine } from '../../contracts/text/sanitize-text.js';
import { formatBytes, formatDuration } from '../display/format.js';
import { terminalLine, terminalText } from '../display/terminal-text.js';
import { editDiff, newTextDiff, patchDiff, shortened } from './diff-lines.js';
import { type Line, plainLine, type Span, type Style } from './styled-text.js';

/** A tool call with what is known of it. The arguments and the result are in the transcript, which is read a moment after the events. */
export interface ShownCall {
  readonly event: Pick<Extract<RunEvent, { type: 'tool.call' }>, 'tool' | 'title'>;
  readonly call?: ToolCallPart | undefined;
  readonly ended?: Extract<RunEvent, { type: 'tool.result' }> | undefined;
  readonly result?: ToolResultPart | undefined;
}

const INDENT: Span = { text: '  ' };
/** Lines of a result that are shown. */
const RESULT_LINES_MAX = 5;
const ARGS_BYTES_MAX = 300;
/** Characters of a result that are looked at. The rest is only counted. */
const RESULT_CHARS_MAX = 4_000;

/** Tools whose title says all of their arguments, or whose arguments are shown as a change. */
const TITLE_SAYS_ALL: ReadonlySet<string> = new Set(['run_command', 'start_command', 'ask_user', 'apply_patch']);
/** Tools whose result repeats what the user can look up: only its size is shown. */
const QUIET_RESULTS: ReadonlySet<string> = new Set(['read_file', 'list_files', 'search_files', 'read_skill', 'update_plan']);

/** Formats a call: its title and arguments, the change that it makes, its outcome, and the beginning of its result. Pure. */
export function toolLines(shown: ShownCall): Line[] {
  const change = changeLines(shown.call);
  return [
    callLine(shown.event, shown.call),
    ...change.map((line) => [INDENT, ...line]),
    ...(shown.ended ? [outcomeLine(shown.ended)] : []),
    ...resultLines(shown, change.length > 0).map((line) => [INDENT, INDENT, ...line]),
  ];
}

/** The first line of a call: its title, and its arguments where the title does not say them. Pure. */
export function callLine({ tool, title }: ShownCall['event'], call: ToolCallPart | undefined): Line {
  const args = call ? argsText(tool, call) : '';
  const isSaid = args === '' || terminalLine(title).endsWith(` ${args}`);
  return [
    { text: '● ', styles: ['accent'] },
    { text: terminalLine(title), styles: ['call'] },
    ...(isSaid ? [] : [{ text: `  ${args}`, styles: ['dim'] } satisfies Span]),
  ];
}

/** The change that a call makes to a file, as a diff. Empty for other tools. Pure. */
export function changeLines(call: ToolCallPart | undefined): Line[] {
  const args = objectOf(call?.args);
  const text = (key: string): string | undefined => (typeof args[key] === 'string' ? args[key] : undefined);
  switch (call?.name ?? '') {
    case 'edit_file':
      return editDiff(text('oldText') ?? '', text('newText') ?? '');
    case 'write_file':
      return newTextDiff(text('content') ?? '');
    case 'apply_patch':
      return patchDiff(text('patch') ?? '');
    case 'update_plan':
      return planLines(args['steps']);
    default:
      return [];
  }
}

function argsText(tool: string, call: ToolCallPart): string {
  if (TITLE_SAYS_ALL.has(tool)) return '';
  const { oldText: _old, newText: _new, content: _content, steps: _steps, ...args } = objectOf(call.args);
  if (typeof args['path'] === 'string' && Object.keys(args).length === 1) return terminalLine(args['path']);
  return Object.keys(args).length === 0 ? '' : jsonLine(args, ARGS_BYTES_MAX);
}

const OUTCOME_STYLES: Readonly<Record<string, Style>> = { ok: 'dim', cancelled: 'warning' };

function outcomeLine({ outcome, durationMs, bytes }: NonNullable<ShownCall['ended']>): Line {
  const styles: Style[] = [OUTCOME_STYLES[outcome] ?? 'error'];
  return [INDENT, { text: `→ ${outcome}, ${formatDuration(durationMs)}, ${formatBytes(bytes)}`, styles }];
}

function resultLines({ event, result, ended }: ShownCall, hasChange: boolean): Line[] {
  const isError = result?.isError ?? ended?.isError ?? false;
  if (!result || (!isError && (hasChange || QUIET_RESULTS.has(event.tool)))) return [];
  const text = result.parts.map(partText).join('\n').trimEnd();
  if (text === '') return [];
  const lines = text.split('\n');
  const shown = terminalText(text.slice(0, RESULT_CHARS_MAX)).split('\n').slice(0, lines.length);
  const rest = lines.length - shown.length;
  const styled = shown.map((line) => plainLine(line, isError ? 'error' : 'dim'));
  return shortened([...styled, ...Array.from({ length: rest }, () => [])], RESULT_LINES_MAX);
}

function partText(part: ContentPart): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'file':
      return `[file, ${part.mime}]`;
    case 'artifact':
      return part.head;
  }
}

const PLAN_MARKS: Readonly<Record<string, string>> = { done: '[x]', in_progress: '[>]', pending: '[ ]' };

function planLines(steps: unknown): Line[] {
  if (!Array.isArray(steps)) return [];
  return steps.map((each: unknown) => {
    const { step, status } = objectOf(each);
    const mark = PLAN_MARKS[typeof status === 'string' ? status : ''] ?? '[ ]';
    return plainLine(`${mark} ${terminalLine(typeof step === 'string' ? step : '')}`, ...(status === 'done' ? (['dim'] as const) : []));
  });
}

function objectOf(value: unknown): Readonly<Record<string, JsonValue | undefined>> {
  // the arguments of a call are JSON
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, JsonValue>) : {};
}
