import { constants } from 'node:os';
import { stripVTControlCharacters } from 'node:util';
import { BACKGROUND_LIMITS } from '../../contracts/constants/limits.js';
import { SECOND_MS } from '../../contracts/constants/units.js';
import { cleanText } from '../../contracts/text/sanitize-text.js';
import { decodeWhole, formatBytes } from '../../output/truncate-output.js';
import { limitsText, refusalText } from '../workspace/report-text.js';
import type { BackgroundCommand, CommandState } from './background-commands.js';
import type { CommandEnd } from './command-record.js';
import type { OutputPart } from './output-files.js';

const SIGNAL_CODES = 128;

/** The id of a command, with its name. */
export function nameText({ record: { id, name } }: BackgroundCommand): string {
  return name === undefined ? id : `${id} (${name})`;
}

/** How a command is now, in a few words. */
export function stateText(command: BackgroundCommand, state: CommandState): string {
  if (state.kind === 'running') return `running for ${seconds(Date.now() - command.record.startedAt)}`;
  const { end } = state;
  const limits = limitsText(end.reached, end.limits);
  return `${endText(end)} after ${seconds(end.endedAt - command.record.startedAt)}${limits}${refusalText(end.refused)}`;
}

/** True for a command that did what it should: it runs, or ended with exit code 0. */
export function isGood(state: CommandState): boolean {
  return state.kind === 'running' || (state.end.endedBy === 'itself' && state.end.exitCode === 0);
}

function endText(end: CommandEnd): string {
  switch (end.endedBy) {
    case 'itself':
      return `ended with exit code ${end.exitCode}${signalText(end.exitCode)}`;
    case 'timeout':
      return 'stopped at the longest life of a command';
    case 'output':
      return `stopped at the limit of ${formatBytes(BACKGROUND_LIMITS.outputBytesMax)} of output`;
    case 'stopped':
      return stoppedText(end);
    case 'lost':
      return `lost: ${end.why ?? 'its end is not known'}; it is not running any more; ended`;
  }
}

function stoppedText({ reason, why }: CommandEnd): string {
  switch (reason) {
    case 'stop_command':
      return 'stopped by stop_command';
    case 'run ended':
      return 'stopped at the end of the run';
    case 'uncovered':
      return `killed, because the owner of this project replaced a protected file meanwhile (${why}); it can be started again; ended`;
    case 'refused':
      return 'killed, because it made protected files again and again; ended';
    case undefined:
      return `stopped (${why ?? 'no reason'})`;
  }
}

/** The signal of an exit code, as a shell shows it. */
function signalText(exitCode = 0): string {
  const [name] = Object.entries(constants.signals).find(([, number]) => number === exitCode - SIGNAL_CODES) ?? [];
  return name === undefined ? '' : ` (${name})`;
}

function seconds(ms: number): string {
  return `${Math.max(0, Math.round(ms / SECOND_MS))}s`;
}

/** A part of an output for the model. */
export interface Page {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** Where the next page begins: at a line that was not shown, or not whole. */
  readonly next: number;
  readonly total: number;
  readonly dropped: number;
}

const NEWLINE = 0x0a;

/** Cuts a part of an output to whole lines. `isTail`: it is the end of the output, and begins anywhere. `isOver`: no more comes. */
export function pageOf(
  { bytes: given, from: begin, total, dropped }: OutputPart,
  { isTail, isOver, linesMax }: { readonly isTail: boolean; readonly isOver: boolean; readonly linesMax: number },
): Page {
  const firstLine = isTail && begin > 0 ? given.indexOf(NEWLINE) + 1 : 0;
  const skipped = isTail ? Math.max(firstLine, startOfLast(given, linesMax)) : 0;
  const from = begin + skipped;
  const rest = given.subarray(skipped);
  const bytes = isTail ? rest : rest.subarray(0, endOfFirst(rest, linesMax));
  const isEnd = from + bytes.length === total;
  const lastLine = bytes.lastIndexOf(NEWLINE) + 1;
  // a line that is not whole is shown again, unless it is longer than a page
  const shown = isEnd || lastLine === 0 ? bytes : bytes.subarray(0, lastLine);
  const taken = (isEnd && isOver) || lastLine === 0 ? shown.length : lastLine;
  const next = isEnd && !isOver && lastLine === 0 && bytes.length < LINE_BYTES_MAX ? from : from + taken;
  return { text: clean(shown), from, to: from + shown.length, next, total, dropped };
}

/** A line without an end that is longer is not shown again. */
const LINE_BYTES_MAX = 8 * 1_024;

/** Where the last `count` lines begin. */
function startOfLast(bytes: Buffer, count: number): number {
  let at = bytes.length - (bytes.at(-1) === NEWLINE ? 1 : 0);
  for (let line = 0; line < count && at > 0; line += 1) at = bytes.lastIndexOf(NEWLINE, at - 1);
  return Math.max(0, at + 1);
}

/** Where the first `count` lines end. */
function endOfFirst(bytes: Buffer, count: number): number {
  let at = 0;
  for (let line = 0; line < count; line += 1) {
    const end = bytes.indexOf(NEWLINE, at);
    if (end === -1) return bytes.length;
    at = end + 1;
  }
  return at;
}

function clean(bytes: Buffer): string {
  return cleanText(stripVTControlCharacters(decodeWhole(bytes))).trimEnd();
}

/** The result of a call: the state of the command, which bytes follow, and these. */
export function resultText(command: BackgroundCommand, state: CommandState, page: Page): string {
  const first = `${nameText(command)}: ${stateText(command, state)}`;
  if (page.total === 0) return `${first}; no output`;
  const gone = page.dropped > 0 ? `[${formatBytes(page.dropped)} of the output were dropped here]\n` : '';
  if (page.text === '' && gone === '') return `${first}; no new output; after: ${page.next}`;
  return `${first}; bytes ${page.from} to ${page.to} of ${page.total}; next: after ${page.next}\n${gone}${page.text}`;
}
