import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { newRunId } from '../../../client/runs/run-summary.js';
import type { SessionHandle } from '../../../client/session-handle.js';
import { checkSessionInput } from '../../../client/sessions/session-input.js';
import type { Reason } from '../../../contracts/schemas/run.js';
import { printText, say } from '../../display/output.js';
import { EXIT_CODE_BY_REASON } from '../../display/result.js';
import { type CliContext, keysOf } from '../../host/context.js';
import { createDisplay } from '../../host/follow-run.js';
import { EXIT_CODE_TERMINATED, untilInterrupted } from '../../host/interrupts.js';
import { loadConfigFor } from '../../host/load-config.js';
import { serveWhile } from '../../host/serve.js';
import { answerOf, type SessionAnswer } from '../../host/session-answer.js';
import { type SessionStartOptions, sessionFromOptions } from '../../host/session-options.js';
import { repeat } from '../../host/session-worker.js';
import { openPlace, type Place } from '../../host/workplace.js';
import type { TerminalInput } from '../../terminal/keyboard.js';
import { readTypedLine } from '../../terminal/line-prompt.js';
import { canMoveCursor } from '../../terminal/paint-line.js';

/** The options of `chat`. */
export interface ChatOptions extends SessionStartOptions {
  /** False with `--no-worker`. */
  readonly worker: boolean;
}

/**
 * `chat`: sends each line of stdin to a session and prints the answer before it sends the next one. stdout holds only answers, each with a
 * newline at its end. Exits with 0 at the end of the input, else with a status for the reason of the last run.
 */
export async function chat(
  { session: key = newRunId().replace(/^run/u, 'chat'), ...options }: ChatOptions,
  context: CliContext,
): Promise<number> {
  const given = await sessionFromOptions(options);
  const { agent, defaults } = checkSessionInput(key, given);
  const config = options.worker ? await loadConfigFor({ ...defaults, ...(agent === undefined ? {} : { agent }) }) : undefined;
  const tell = (line: string): void => say(context.output, line);
  const place = await openPlace(options, tell, config);
  try {
    const serving = { place, config, say: tell, terminated: context.interrupts.terminated };
    return await serveWhile(serving, async (ready) => {
      await Promise.race([ready, untilInterrupted(context.interrupts)]);
      tell(`session ${key}; continue it with: perdure chat --session ${key}`);
      return await converse({ place, session: place.client.session(key, given) }, context);
    });
  } finally {
    await place.close();
  }
}

interface Talk {
  readonly place: Place;
  readonly session: SessionHandle;
}

async function converse(talk: Talk, context: CliContext): Promise<number> {
  const { output, interrupts } = context;
  let last: SessionAnswer | undefined;
  for await (const line of typedLines(context) ?? pipedLines(context)) {
    if (line.trim() !== '') last = await answer(talk, line, context);
    if (interrupts.signal.aborted) break;
  }
  if (!interrupts.signal.aborted) return 0;
  say(output, `detached; session ${talk.session.key} is kept, continue it with: perdure chat --session ${talk.session.key}`);
  if (interrupts.kind === 'terminate') return EXIT_CODE_TERMINATED;
  return last?.reason === undefined ? 0 : exitCodeOf(last.reason);
}

/** The lines that are typed on a terminal, up to Ctrl-C or Ctrl-D. Undefined without a terminal. */
function typedLines({ input, output: { stderr }, interrupts }: CliContext): AsyncGenerator<string> | undefined {
  return input?.isTTY && stderr.isTTY && canMoveCursor(process.env) ? lines(input) : undefined;

  async function* lines(terminal: TerminalInput): AsyncGenerator<string> {
    for (;;) {
      const line = await readTypedLine({ input: terminal, screen: stderr, signal: interrupts.signal });
      if (line === 'interrupt') interrupts.interrupt('ctrl-c');
      if (typeof line === 'string') return;
      yield line.text;
    }
  }
}

/** The lines of stdin, up to its end or an interrupt. */
async function* pipedLines({ interrupts }: CliContext): AsyncGenerator<string> {
  const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
  const onInterrupt = (): void => lines.close();
  interrupts.signal.addEventListener('abort', onInterrupt, { once: true });
  try {
    for await (const line of lines) {
      if (interrupts.signal.aborted) return;
      yield line;
    }
  } finally {
    interrupts.signal.removeEventListener('abort', onInterrupt);
    lines.close();
  }
}

/** Sends one message, follows the run that answers it and prints the answer. */
async function answer({ place, session }: Talk, text: string, context: CliContext): Promise<SessionAnswer> {
  const { output, interrupts } = context;
  const message = { id: randomUUID(), text };
  const receipt = await repeat(place, () => session.send(message));
  if (!receipt.accepted) {
    say(output, `the queue of session ${session.key} is full; the message was not accepted`);
    return {};
  }
  const display = createDisplay(output, {});
  try {
    const found = await answerOf(
      { client: place.client, session, id: message.id },
      { display, signal: interrupts.signal, keys: keysOf(context) },
    );
    display.end();
    const { result, problem } = found;
    const isShown = output.stdout.isTTY === true && result !== undefined && display.hasShown(result.output);
    if (result && result.output !== '' && !isShown) printText(output, result.output);
    if (result?.error) say(output, `${result.error.type}: ${result.error.message}`);
    if (problem !== undefined) say(output, problem);
    return found;
  } finally {
    display.end();
  }
}

function exitCodeOf(reason: string): number {
  return Object.hasOwn(EXIT_CODE_BY_REASON, reason) ? EXIT_CODE_BY_REASON[reason as Reason] : 1;
}
