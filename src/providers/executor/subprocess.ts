import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { EXECUTOR_LIMITS } from '../../contracts/constants/limits.js';
import { commandSandbox } from '../../process/command-sandbox.js';
import { ModelError } from '../contract/model-error.js';
import type { ModelAnswer, ModelProvider, ModelRequest } from '../contract/provider.js';
import { ExecutorConversation } from './conversation.js';
import { type ExecutorEnvironmentOptions, executorEnvironment } from './environment.js';
import { lastAnswerIn, lineToBegin } from './lines.js';
import { ExecutorProcess } from './process.js';

/**
 * Makes the provider of an agent that is a child process. A call is one exchange with the run's process, which is kept for the next one:
 * results and messages go in, a batch of calls or the final answer comes out. Throws `Executor.Failed` for a child that crashes, reports an
 * error, breaks the protocol or takes too long, and for one that is gone unless its executor can `resume`; each run has a process of its own.
 */
export function createSubprocessProvider(options: ExecutorEnvironmentOptions): ModelProvider {
  const processes = new RunProcesses(options);
  return {
    async call(request) {
      request.signal.throwIfAborted();
      const { runId } = request;
      if (runId === undefined) throw failed(options, 'it answers only within a run');
      return await processes.answer(runId, request);
    },
  };
}

class RunProcesses {
  readonly #options: ExecutorEnvironmentOptions;
  readonly #kept = new Map<string, ExecutorConversation>();
  readonly #busy = new Map<string, Promise<unknown>>();

  constructor(options: ExecutorEnvironmentOptions) {
    this.#options = options;
  }

  /** One question of a run at a time: an attempt that was given up is still ending its process when the next one comes. */
  async answer(runId: string, request: ModelRequest): Promise<ModelAnswer> {
    const before = this.#busy.get(runId) ?? Promise.resolve();
    const answer = before.then(() => this.#answerNow(runId, request));
    const settled = Promise.allSettled([answer]);
    this.#busy.set(runId, settled);
    try {
      return await answer;
    } finally {
      if (this.#busy.get(runId) === settled) this.#busy.delete(runId);
    }
  }

  async #answerNow(runId: string, request: ModelRequest): Promise<ModelAnswer> {
    request.signal.throwIfAborted();
    const kept = this.#kept.get(runId);
    const before = kept?.answeredBefore(request);
    if (before) return shown(before, request);
    this.#kept.delete(runId);
    const goesOn = kept?.isContinuedBy(request) ?? false;
    const answer = goesOn ? await kept?.goOn(request) : undefined;
    if (kept && answer) {
      this.#keep(kept, runId, request);
      return answer;
    }
    await kept?.end();
    const fresh = await this.#begin(request, goesOn);
    const first = await fresh.ask([lineToBegin(request)], request);
    this.#keep(fresh, runId, request);
    return first;
  }

  /** The process waits for the run's next question. */
  #keep(conversation: ExecutorConversation, runId: string, request: ModelRequest): void {
    this.#kept.set(runId, conversation);
    conversation.rest(request, () => this.#kept.delete(runId));
  }

  async #begin(request: ModelRequest, hasLeft: boolean): Promise<ExecutorConversation> {
    const { agent, executor } = this.#options;
    if (lastAnswerIn(request.messages) !== -1 && !executor.resume) {
      const why = hasLeft ? 'it left after its final answer, and the run goes on' : 'its process is gone, or never had this transcript';
      throw failed(this.#options, `${why}; an executor with resume: true is started again with what was said so far`);
    }
    const { command, args = [], timeoutMs = EXECUTOR_LIMITS.timeoutMsDefault, idleMs = EXECUTOR_LIMITS.idleMsDefault } = executor;
    const cwd = resolve(executor.cwd ?? request.workspace ?? '.');
    const found = await stat(cwd).catch(() => undefined);
    if (!found?.isDirectory()) throw failed(this.#options, `${cwd} is not a folder on this worker`);
    const environment = executorEnvironment(this.#options);
    const process = await ExecutorProcess.start({ agent, command, args, environment, sandbox: await commandSandbox(), cwd });
    return new ExecutorConversation(process, { timeoutMs, idleMs });
  }
}

/** An answer that watchers of an earlier attempt saw is shown to those of this one. */
function shown(answer: ModelAnswer, { onDelta }: ModelRequest): ModelAnswer {
  for (const part of answer.parts) {
    if (part.type === 'text' || part.type === 'thinking') onDelta({ type: part.type, text: part.text });
    if (part.type === 'tool_call') onDelta({ type: 'tool_call', name: part.name });
  }
  return answer;
}

function failed({ agent }: ExecutorEnvironmentOptions, problem: string): ModelError {
  return new ModelError('Executor.Failed', `agent ${agent}: ${problem}`);
}
