import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { newRunId } from '../../../client/runs/run-summary.js';
import type { SessionHandle } from '../../../client/session-handle.js';
import { checkSessionInput } from '../../../client/sessions/session-input.js';
import { PerdureError } from '../../../contracts/perdure-error.js';
import type { Reason, Receipt } from '../../../contracts/schemas/run.js';
import type { SendInput } from '../../../contracts/schemas/session.js';
import { printText, say, type Voice } from '../../display/output.js';
import { EXIT_CODE_BY_REASON } from '../../display/result.js';
import { ConversationKeys } from '../../follow/conversation-keys.js';
import { Outage } from '../../follow/outage.js';
import { SentLines } from '../../follow/sent-lines.js';
import { askWorker } from '../../host/ask-worker.js';
import { type CliContext, keysOf } from '../../host/context.js';
import { createDisplay } from '../../host/follow-run.js';
import { EXIT_CODE_DETACHED, untilInterrupted } from '../../host/interrupts.js';
import { loadConfigFor } from '../../host/load-config.js';
import { serveWhile } from '../../host/serve.js';
import { answerOf, type SessionAnswer } from '../../host/session-answer.js';
import { type SessionStartOptions, sessionFromOptions } from '../../host/session-options.js';
import { openPlace, type Place } from '../../host/workplace.js';
import { readTypedLine } from '../../terminal/line-prompt.js';
import { LiveDisplay } from '../../terminal/live-display.js';
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
  const voice: Voice = { say: (line) => say(context.output, line) };
  const tell = (line: string): void => voice.say(line);
  const place = await openPlace(options, tell, config);
  try {
    const serving = { place, config, say: tell, terminated: context.interrupts.terminated };
    return await serveWhile(serving, async (ready) => {
      await Promise.race([ready, untilInterrupted(context.interrupts)]);
      tell(`session ${key}; continue it with: perdure chat --session ${key}`);
      return await converse({ place, session: place.client.session(key, given), voice }, context);
    });
  } finally {
    await place.close();
  }
}

interface Talk {
  readonly place: Place;
  readonly session: SessionHandle;
  readonly voice: Voice;
  /** Undefined without a terminal. */
  readonly keys: ConversationKeys | undefined;
}

async function converse(given: Omit<Talk, 'keys'>, context: CliContext): Promise<number> {
  const { output, interrupts } = context;
  const keys = openKeys(context);
  const talk = { ...given, keys };
  let last: SessionAnswer | undefined;
  try {
    for await (const line of keys ? typedLines(talk, keys, context) : pipedLines(context)) {
      if (line.trim() !== '') last = await answer(talk, line, context);
      if (interrupts.signal.aborted) break;
    }
  } finally {
    keys?.close();
  }
  if (!interrupts.signal.aborted || interrupts.kind === 'pipe-closed') return 0;
  say(output, `detached; session ${talk.session.key} is kept, continue it with: perdure chat --session ${talk.session.key}`);
  const code = EXIT_CODE_DETACHED[interrupts.kind ?? 'ctrl-c'];
  return code !== 0 || last?.reason === undefined ? code : exitCodeOf(last.reason);
}

function openKeys(context: CliContext): ConversationKeys | undefined {
  const keys = context.output.stderr.isTTY && canMoveCursor(process.env) ? keysOf(context) : undefined;
  return keys && new ConversationKeys(keys);
}

/** The lines that are typed on a terminal, up to Ctrl-C or Ctrl-D. */
async function* typedLines(
  { voice }: Talk,
  keys: ConversationKeys,
  { output: { stderr }, interrupts }: CliContext,
): AsyncGenerator<string> {
  for (;;) {
    const line = await readTypedLine({ keys, entered: keys.entered, voice, screen: stderr, signal: interrupts.signal });
    if (line === 'interrupt') keys.detach();
    if (typeof line === 'string') return;
    yield line.text;
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

/** Sends one message and prints its answer, then those to the lines that were typed meanwhile. Resolves with the last answer. */
async function answer(talk: Talk, text: string, context: CliContext): Promise<SessionAnswer> {
  const { session } = talk;
  const message = { id: randomUUID(), text };
  const outage = new Outage(talk.voice, context.interrupts.signal);
  const receipt = await outage.through(() => sendTo(talk, message, context.interrupts.signal));
  if (!receipt) return {};
  if (!receipt.accepted) {
    say(context.output, `the queue of session ${session.key} is full; the message was not accepted`);
    return {};
  }
  const following = { ...talk, lines: new SentLines(session), shown: new Set<string>(), printed: new Set<string>() };
  let last = await printAnswer(following, message.id, context);
  for (let id = await following.lines.next(); id !== undefined && !context.interrupts.signal.aborted; id = await following.lines.next())
    last = await printAnswer(following, id, context);
  return last;
}

/** Sends a message. A server that is not reachable can look like a worker that does not answer. */
async function sendTo({ place, session, voice }: Talk, message: SendInput, signal: AbortSignal): Promise<Receipt> {
  try {
    return await askWorker(place, () => session.send(message), { tell: (line) => voice.say(line), signal });
  } catch (error) {
    if (error instanceof PerdureError && error.code === 'NO_WORKER') await place.client.hasPoller();
    throw error;
  }
}

interface Followed extends Talk {
  readonly lines: SentLines;
  /** The runs that were shown, and those whose result was printed: one run can answer several messages. */
  readonly shown: Set<string>;
  readonly printed: Set<string>;
}

/** Follows the run that answers a message, and prints its result, unless it was printed for an earlier message. */
async function printAnswer(followed: Followed, id: string, context: CliContext): Promise<SessionAnswer> {
  const { place, session, keys, voice, lines, shown, printed } = followed;
  const { say: sayBefore } = voice;
  const { output, interrupts } = context;
  const display = createDisplay(output, {});
  voice.say = (line) => display.say(line);
  if (keys && display instanceof LiveDisplay) keys.onDraft = () => display.setPrompt({ lines: [], input: keys.draft.typed, hint: '' });
  try {
    const found = await answerOf(
      { client: place.client, session, id, shown },
      { display, signal: interrupts.signal, keys, send: lines.send },
    );
    display.end();
    const { runId, result, problem } = found;
    if (problem !== undefined) say(output, problem);
    if (runId === undefined || printed.has(runId)) return found;
    printed.add(runId);
    const isShown = output.stdout.isTTY === true && result !== undefined && display.hasShown(result.output);
    if (result && result.output !== '' && !isShown) printText(output, result.output);
    if (result?.error) say(output, `${result.error.type}: ${result.error.message}`);
    return found;
  } finally {
    if (keys) keys.onDraft = undefined;
    voice.say = sayBefore;
    display.end();
  }
}

function exitCodeOf(reason: string): number {
  return Object.hasOwn(EXIT_CODE_BY_REASON, reason) ? EXIT_CODE_BY_REASON[reason as Reason] : 1;
}
