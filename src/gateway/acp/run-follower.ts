import type { RunHandle } from '../../client/run-handle.js';
import { RunMessages } from '../../client/watch/run-messages.js';
import type { RunEvent } from '../../contracts/event.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { RunResult } from '../../contracts/schemas/run.js';
import type { StreamSource } from '../../streams/stream.js';
import { AnswerWriter } from '../http/chat/answer-writer.js';
import type { Cursor } from '../http/events/cursor.js';
import { followEvents } from '../http/events/follow-events.js';
import type { SentEvent } from '../http/events/sent-event.js';
import { AnswerUpdates } from './answer-updates.js';
import type { Editor } from './editor.js';
import { patiently, pause } from './patiently.js';
import { isDecided, RunQuestions } from './run-questions.js';

/** What a follower needs. */
export interface FollowerOptions {
  readonly run: RunHandle;
  readonly streams: StreamSource;
  readonly editor: Editor;
  /** Absolute path, for paths in tool calls. */
  readonly workspace: string;
  /** Ends the follower. The run continues. */
  readonly ending: AbortSignal;
  readonly say: (line: string) => void;
}

/** Where a run stands still for its editor: at its end, or at a question that the next prompt answers. */
export type Stop = { readonly result: RunResult } | { readonly question: string };

/**
 * Follows one run for an editor, from its beginning to its end: sends what it does as updates, and asks the user what it asks. It continues
 * whether or not a prompt waits for it.
 */
export class RunFollower {
  readonly #options: FollowerOptions;
  readonly #updates: AnswerUpdates;
  readonly #questions: RunQuestions;
  readonly #writer: AnswerWriter;
  readonly #ended: Promise<RunResult>;
  /** Open questions that need a text, in the order in which they were asked. The first one is shown. */
  readonly #texts: { readonly callId: string; readonly text: string }[] = [];
  #stopped = new Stopping();
  #question: string | undefined;
  #isOver = false;
  #isCancelled = false;

  constructor(options: FollowerOptions) {
    const { run, editor, workspace, say, ending } = options;
    const { runId } = run;
    this.#options = options;
    this.#updates = new AnswerUpdates({ runId, workspace });
    this.#questions = new RunQuestions({ run, editor, workspace, onText: (callId, text) => this.#askAsText(callId, text), say, ending });
    this.#writer = new AnswerWriter({ runId, messages: new RunMessages(run), approvals: () => run.approvals() }, { isWhole: true });
    this.#ended = this.#follow().finally(() => {
      this.#isOver = true;
      this.#questions.close();
    });
    // a follower that no prompt waits for reports its problem itself
    this.#ended.catch((error: unknown) => {
      if (!ending.aborted) say(`run ${runId} is no longer followed: ${error instanceof Error ? error.message : String(error)}`);
    });
  }

  /** True after the result, and after an error. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The question that the next prompt answers. */
  get question(): string | undefined {
    return this.#question;
  }

  /** Resolves where the run stands still next. Rejects if it cannot be followed any longer. */
  async stop(): Promise<Stop> {
    return await Promise.race([this.#ended.then((result) => ({ result })), this.#stopped.given]);
  }

  /** Answers the question that is shown. The run continues. Throws as `RunHandle.answer` does; a question that has ended makes way then. */
  async answer(text: string): Promise<void> {
    const { run, editor } = this.#options;
    const callId = this.#question ?? '';
    try {
      await run.answer(callId, text, { by: editor.name });
    } catch (error) {
      if (isDecided(error)) await this.#settle(callId);
      throw error;
    }
    await this.#settle(callId);
  }

  /** Cancels the run. It ends with what it has. */
  async cancel(): Promise<void> {
    if (this.#isOver || this.#isCancelled) return;
    this.#isCancelled = true;
    this.#questions.close();
    const { run, editor, ending } = this.#options;
    await patiently(() => run.cancel({ reason: `cancelled by ${editor.name}` }), ending);
  }

  async #follow(): Promise<RunResult> {
    const { run, streams, ending: signal } = this.#options;
    let start: Cursor = { event: 0 };
    for (let attempt = 1; ; attempt += 1) {
      try {
        for await (const events of followEvents(run, streams, { start, signal })) {
          for (const event of events) {
            await this.#take(event);
            start = event.cursor;
            if (event.type === 'result') return (event.data as { readonly result: RunResult }).result;
          }
        }
        throw new PerdureError('ENDED', 'the server ended; the run continues', 1);
      } catch (error) {
        // a run whose start is on its way to the server is there soon
        if (!(error instanceof PerdureError) || error.code !== 'RUN_NOT_FOUND' || attempt >= ATTEMPTS_MAX) throw error;
        await pause(signal);
      }
    }
  }

  async #take(sent: SentEvent): Promise<void> {
    await patiently(() => this.#writer.take(sent), this.#options.ending);
    for (const chunk of this.#writer.drain()) {
      for (const update of this.#updates.chunk(chunk)) await this.#options.editor.update(update);
    }
    if (sent.type === 'gap') await this.#settleMissed();
    if (sent.adds === 'result' || !('event' in sent.adds) || sent.type === 'gap') return;
    // every other type with a number of an event is that of a run event
    const event = sent.data as RunEvent;
    for (const update of this.#updates.event(event)) await this.#options.editor.update(update);
    if (!this.#isCancelled) this.#questions.take(event);
    if (event.type === 'question.answered') await this.#settle(event.callId);
  }

  /** Asks a question as text once those before it have ended: the next prompt is the answer to the question that is shown. */
  async #askAsText(callId: string, text: string): Promise<void> {
    if (this.#texts.some((asked) => asked.callId === callId)) return;
    this.#texts.push({ callId, text });
    if (this.#texts.length === 1) await this.#showFirst();
  }

  /** Shows the first question, and stops there. */
  async #showFirst(): Promise<void> {
    const [first] = this.#texts;
    if (!first || this.#isCancelled) return;
    const { run, editor } = this.#options;
    const { callId, text } = first;
    const content = { type: 'text' as const, text };
    await editor.update({ sessionUpdate: 'agent_message_chunk', messageId: `${run.runId}.${callId}`, content });
    // another person may have answered it meanwhile
    if (this.#texts[0] !== first) return;
    this.#question = callId;
    this.#stopped.give({ question: callId });
  }

  /** The ends of questions may be among the events that were missed. */
  async #settleMissed(): Promise<void> {
    if (this.#texts.length === 0) return;
    const { run, ending } = this.#options;
    const { questions = [] } = await patiently(() => run.approvals(), ending);
    const ended = this.#texts.filter(({ callId }) => !questions.some((open) => open.callId === callId));
    for (const { callId } of ended) await this.#settle(callId);
  }

  /** A question has ended. If it was shown, the run continues, up to the next one. */
  async #settle(callId: string): Promise<void> {
    const at = this.#texts.findIndex((asked) => asked.callId === callId);
    if (at >= 0) this.#texts.splice(at, 1);
    if (at !== 0) return;
    this.#question = undefined;
    this.#stopped = new Stopping();
    await this.#showFirst();
  }
}

/** A run whose start is on its way to the server is there by then. */
const ATTEMPTS_MAX = 10;

/** A stop that is waited for. */
class Stopping {
  give: (stop: Stop) => void = () => undefined;
  readonly given = new Promise<Stop>((resolve) => {
    this.give = resolve;
  });
}
