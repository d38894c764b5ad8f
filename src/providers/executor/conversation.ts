import { EXECUTOR_LIMITS } from '../../contracts/constants/limits.js';
import type { ModelAnswer, ModelRequest } from '../contract/provider.js';
import { AnswerRelay } from './answer-relay.js';
import { keepWhile } from './keep-alive.js';
import { callsIn, lastAnswerIn, linesToGoOn, refusals } from './lines.js';
import type { ExecutorProcess } from './process.js';
import type { ChildCall, ParentLine } from './protocol.js';

/** How long a child may take, and how long it is kept. */
export interface ConversationTimes {
  readonly timeoutMs: number;
  readonly idleMs: number;
}

/** What a child answered last, and to which question. */
interface LastAnswer {
  readonly question: string;
  readonly messageIds: ReadonlySet<string>;
  readonly calls: readonly ChildCall[];
  readonly answer: ModelAnswer;
}

/** A run's talk with its child process: one question at a time, each answered by calls or by the final text. */
export class ExecutorConversation {
  readonly #process: ExecutorProcess;
  readonly #times: ConversationTimes;
  #last: LastAnswer | undefined;
  #wake: () => void = () => undefined;

  constructor(process: ExecutorProcess, times: ConversationTimes) {
    this.#process = process;
    this.#times = times;
  }

  /** The answer to a question that was answered before: whoever asked never got it. */
  answeredBefore(request: ModelRequest): ModelAnswer | undefined {
    return this.#last?.question === questionOf(request) ? this.#last.answer : undefined;
  }

  /** True when the newest answer of the transcript is the child's last one: what came since can be told to it. */
  isContinuedBy({ messages }: ModelRequest): boolean {
    const answer = messages[lastAnswerIn(messages)];
    if (!answer || !this.#last || this.#last.messageIds.has(answer.id)) return false;
    return namesOf(callsIn(answer)) === namesOf(this.#last.calls);
  }

  /** Tells it what came since its last answer, and waits for the next one; undefined when it had left after its final answer, as it may. */
  async goOn(request: ModelRequest): Promise<ModelAnswer | undefined> {
    const calls = this.#last?.calls ?? [];
    try {
      return await this.ask(linesToGoOn(request, calls), request);
    } catch (error) {
      if (calls.length === 0 && this.#process.leftWith === 0) return undefined;
      throw error;
    }
  }

  /**
   * Says the lines and waits for the answer. Throws `Executor.Failed`, or the signal's reason; the process is then ended with all that it
   * started, and the conversation is over.
   */
  async ask(lines: readonly ParentLine[], request: ModelRequest): Promise<ModelAnswer> {
    this.#wake();
    const { timeoutMs } = this.#times;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs);
    this.#process.keepsNodeAlive(true);
    try {
      const { answer, calls } = await this.#exchange(lines, request, stopped(AbortSignal.any([request.signal, late.signal])));
      this.#last = { question: questionOf(request), messageIds: new Set(request.messages.map(({ id }) => id)), calls, answer };
      return answer;
    } catch (error) {
      await this.end();
      request.signal.throwIfAborted();
      throw late.signal.aborted ? this.#process.failed(`no answer for ${timeoutMs / 1_000} s`) : error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Keeps the process for the next question, for so long as one may come; `onEnd` is called when its time or its run is over. */
  rest({ isRunOver = async () => false }: Pick<ModelRequest, 'isRunOver'>, onEnd: () => void): void {
    this.#process.keepsNodeAlive(false);
    const { idleMs } = this.#times;
    const isFinal = this.#last?.calls.length === 0;
    this.#wake = keepWhile({
      ms: isFinal ? Math.min(EXECUTOR_LIMITS.afterFinalMs, idleMs) : idleMs,
      lookEveryMs: EXECUTOR_LIMITS.lookEveryMs,
      isOver: isRunOver,
      onEnd: () => {
        onEnd();
        void this.end();
      },
    });
  }

  /** Ends the process and all that it started. */
  async end(): Promise<void> {
    this.#wake();
    await this.#process.end();
  }

  async #exchange(
    lines: readonly ParentLine[],
    request: ModelRequest,
    stop: Promise<never>,
  ): Promise<Pick<LastAnswer, 'answer' | 'calls'>> {
    const answerRelay = new AnswerRelay(request.onDelta);
    this.#process.beginAnswer();
    for (const line of lines) await Promise.race([this.#process.send(line), stop]);
    for (;;) {
      const line = await Promise.race([this.#process.receive(), stop]);
      switch (line.type) {
        case 'text':
        case 'thinking':
          answerRelay[line.type](line.text);
          break;
        case 'usage': {
          const { type: _, ...usage } = line;
          answerRelay.usage(usage);
          break;
        }
        case 'tool_calls':
          if (request.toolChoice !== 'none') return { answer: answerRelay.calls(line.calls), calls: line.calls };
          await Promise.race([this.#process.send(refusals(line.calls)), stop]);
          break;
        case 'final':
          return { answer: answerRelay.final(line.text), calls: [] };
        case 'error':
          throw this.#process.failed(`it reported an error: ${line.message}`);
      }
    }
  }
}

/** Two requests with the same messages are the same question. */
function questionOf({ messages, toolChoice }: ModelRequest): string {
  return [toolChoice, ...messages.map(({ id }) => id)].join(' ');
}

function namesOf(calls: readonly { readonly name: string }[]): string {
  return calls.map(({ name }) => name).join(' ');
}

/** Rejects when the signal aborts. */
function stopped(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('stopped'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
