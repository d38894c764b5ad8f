import type { RunEvent } from '../../contracts/event.js';
import type { ToolCallPart } from '../../contracts/schemas/message.js';
import { BUDGET_APPROVAL } from '../../contracts/text/ids.js';
import { decisionCommands } from '../display/approval-hints.js';
import { terminalLine } from '../display/terminal-text.js';
import { shortened } from './diff-lines.js';
import { type Line, plainLine, type Span } from './styled-text.js';
import { callLine, changeLines } from './tool-lines.js';

/** What a run waits for a person with. */
export type Asked = Extract<RunEvent, { type: 'approval.asked' | 'question.asked' }>;

/** How much of a call was printed: all of it, a part, nothing, because its arguments are not known yet, or lines that are not on the screen yet. */
export type Reviewed = 'whole' | 'part' | 'unknown' | 'printing';

/** What is shown of an approval or a question. */
export interface AskedView {
  readonly runId: string;
  readonly asked: Asked;
  /** The call with all its arguments, if the transcript was read. */
  readonly call: ToolCallPart | undefined;
  /** False for a moment after an approval appears, so that a key that was meant for a text decides nothing. */
  readonly takesKeys: boolean;
  /** How much of the call was printed above. Without all of it, no key approves it. */
  readonly reviewed: Reviewed;
  /** How many others wait behind it. */
  readonly others: number;
}

const CHANGE_LINES_MAX = 12;
/** The key that approves a call, or that prints it first. */
const REVIEW_KEYS: Readonly<Record<Reviewed, readonly Span[]>> = {
  whole: [{ text: 'y', styles: ['accent'] }, { text: ' approve · ' }],
  part: [{ text: 'v', styles: ['accent'] }, { text: ' view the rest, then approve · ' }],
  printing: [{ text: 'approve when the response ends, and the whole call is shown · ', styles: ['dim'] }],
  unknown: [{ text: 'v', styles: ['accent'] }, { text: ' view the arguments, then approve · ' }],
};
const INDENT: Span = { text: '  ' };

/** Formats an approval with its call and its change, or a question with its choices, and the keys that end it. Pure. */
export function askedLines({ runId, asked, call, takesKeys, reviewed, others }: AskedView): Line[] {
  const more: Line[] = others === 0 ? [] : [plainLine(`  ${others} more waiting`, 'dim')];
  if (asked.type === 'question.asked') return [...questionLines(asked), ...more];
  const keys = takesKeys ? keyLines(runId, asked, reviewed) : [];
  if (asked.callId === BUDGET_APPROVAL) return [plainLine(`limit reached: ${terminalLine(asked.title)}`, 'warning'), ...keys];
  const why = `  required by ${terminalLine(asked.by)}${asked.reason === '' ? '' : `: ${terminalLine(asked.reason)}`}`;
  const shown = call ?? { type: 'tool_call', callId: asked.callId, name: asked.tool, args: asked.args ?? '' };
  return [
    [{ text: 'approval needed  ', styles: ['warning'] }, ...callLine(asked, shown)],
    ...shortened(changeLines(call), CHANGE_LINES_MAX).map((line) => [INDENT, INDENT, ...line]),
    plainLine(why, 'dim'),
    ...keys,
    ...more,
  ];
}

function questionLines({ question, choices = [], by }: Extract<Asked, { type: 'question.asked' }>): Line[] {
  const asker = by === 'agent' ? 'question' : terminalLine(by);
  const how = choices.length === 0 ? 'type the answer and press Enter' : 'type a number, or an answer, then press Enter';
  return [
    [{ text: `${asker}  `, styles: ['warning'] }, { text: terminalLine(question) }],
    ...choices.map((choice, index): Line => [{ text: `  ${index + 1}. `, styles: ['accent'] }, { text: terminalLine(choice) }]),
    plainLine(`  ${how}`, 'dim'),
  ];
}

function keyLines(runId: string, { callId }: Asked, reviewed: Reviewed): Line[] {
  const isBudget = callId === BUDGET_APPROVAL;
  const keys: Line = [
    INDENT,
    ...(isBudget ? [] : REVIEW_KEYS[reviewed]),
    { text: 'n', styles: ['accent'] },
    { text: isBudget ? ' finish now · in another terminal: ' : ' deny' },
  ];
  return isBudget ? [[...keys, { text: decisionCommands(runId, callId), styles: ['dim'] }]] : [keys];
}
