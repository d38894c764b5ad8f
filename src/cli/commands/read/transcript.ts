import { PerdureError } from '../../../contracts/perdure-error.js';
import type { Message, Part } from '../../../contracts/schemas/message.js';
import { echoValue } from '../../../contracts/text/echo-value.js';
import { visibleJson } from '../../../contracts/text/sanitize-text.js';
import { formatBytes } from '../../display/format.js';
import { printJson, printText, say } from '../../display/output.js';
import { terminalLine, terminalText } from '../../display/terminal-text.js';
import type { CliContext } from '../../host/context.js';
import { type ReadOptions, readRun } from './read-run.js';

/** The options of `transcript`. */
export interface TranscriptOptions extends ReadOptions {
  readonly turn?: number | string;
}

/** `transcript RUN`: prints the messages of a run, or those of one turn. The task is turn 0. */
export async function transcript(runId: string, { json, turn, ...where }: TranscriptOptions, context: CliContext): Promise<number> {
  const wanted = turn === undefined ? undefined : checkTurn(turn);
  const all = await readRun(runId, where, context, async (run) => {
    const messages: Message[] = [];
    for await (const page of run.transcript()) messages.push(...page.messages);
    return messages;
  });
  const messages = wanted === undefined ? all : all.filter((message) => (message.turn ?? 0) === wanted);
  if (json) printJson(context.output, messages);
  else if (messages.length > 0) printText(context.output, formatTranscript(messages));
  else say(context.output, wanted === undefined ? `run ${runId} has no messages` : `run ${runId} has no messages of turn ${wanted}`);
  return 0;
}

function checkTurn(turn: number | string): number {
  if (typeof turn === 'number' && Number.isInteger(turn) && turn >= 0) return turn;
  throw new PerdureError('BAD_OPTION', `--turn: integer of at least 0, got ${echoValue(turn)}`, 2);
}

/** A heading for each message, and its text below with an indent, so that no text of a model or a tool looks like a heading. Pure. */
export function formatTranscript(messages: readonly Message[]): string {
  const names = new Map(
    messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool_call' ? [[part.callId, part.name]] : []))),
  );
  return messages
    .map((message) => [heading(message), ...message.parts.map((part) => indented(formatPart(part, names)))].join('\n'))
    .join('\n\n');
}

function heading({ role, origin, turn = 0, partial }: Message): string {
  return [`turn ${turn}`, origin === undefined ? role : `${role} (${origin})`, ...(partial ? ['incomplete'] : [])].join(', ');
}

function formatPart(part: Part, names: ReadonlyMap<string, string>): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'thinking':
      return `thinking: ${part.text}`;
    case 'tool_call':
      return `call ${terminalLine(part.name)} ${visibleJson(part.argsText ?? JSON.stringify(part.args))} (${part.callId})`;
    case 'tool_result': {
      const end = part.isError ? 'error' : 'result';
      return [
        `${end} of ${terminalLine(names.get(part.callId) ?? 'a call')} (${part.callId})`,
        ...part.parts.map((each) => formatPart(each, names)),
      ].join('\n');
    }
    case 'file':
      return `[file, ${terminalLine(part.mime)}]`;
    case 'artifact':
      return `${part.head}\n[artifact ${terminalLine(part.ref)}, ${formatBytes(part.bytes)}]`;
  }
}

function indented(text: string): string {
  return terminalText(text)
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
}
