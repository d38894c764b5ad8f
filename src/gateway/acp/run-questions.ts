import type { ToolCallUpdate } from '@agentclientprotocol/sdk';
import type { RunHandle } from '../../client/run-handle.js';
import type { RunEvent } from '../../contracts/event.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { ApprovalList, PendingApproval } from '../../contracts/schemas/approval.js';
import type { PendingQuestion } from '../../contracts/schemas/question.js';
import { BUDGET_APPROVAL } from '../../contracts/text/ids.js';
import { cleanText } from '../../contracts/text/sanitize-text.js';
import type { Editor } from './editor.js';
import { editorCall } from './editor-call.js';
import { patiently } from './patiently.js';
import { DECLINE, formAnswer, questionButtons, questionForm, questionText } from './question-form.js';

/** What the questions of a run need. */
export interface QuestionsOptions {
  readonly run: Pick<RunHandle, 'runId' | 'approvals' | 'approve' | 'deny' | 'answer'>;
  readonly editor: Editor;
  /** Absolute path, for paths in tool calls. */
  readonly workspace: string;
  /** Called with a question that needs a text, and that the editor cannot ask. The next prompt answers it. */
  readonly onText: (callId: string, text: string) => Promise<void>;
  readonly say: (line: string) => void;
  /** Ends the questions. The run continues. */
  readonly ending: AbortSignal;
}

/**
 * Asks the user what a run asks: approvals of calls, and questions of the agent. A decision that another person makes withdraws the
 * question from the editor. A question that the editor does not answer stays open, for the command line.
 */
export class RunQuestions {
  readonly #options: QuestionsOptions;
  readonly #asked = new Map<string, AbortController>();
  #listed: Promise<unknown> = Promise.resolve();

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  /** Takes an event of the run. Returns at once: the run waits for the answer, its events do not. */
  take(event: RunEvent): void {
    if (event.type === 'approval.asked') this.#begin(event.callId, (signal) => this.#approve(event.callId, signal));
    if (event.type === 'question.asked') this.#begin(event.callId, (signal) => this.#question(event.callId, signal));
    if (event.type === 'approval.decided' || event.type === 'question.answered') this.#withdraw(event.callId);
  }

  /** Withdraws everything that was asked. */
  close(): void {
    for (const callId of this.#asked.keys()) this.#withdraw(callId);
  }

  #withdraw(callId: string): void {
    this.#asked.get(callId)?.abort();
    this.#asked.delete(callId);
  }

  #begin(callId: string, ask: (signal: AbortSignal) => Promise<void>): void {
    this.#withdraw(callId);
    const { say } = this.#options;
    const withdrawn = new AbortController();
    this.#asked.set(callId, withdrawn);
    ask(withdrawn.signal).catch((error: unknown) => {
      // another person decided, or the prompt was cancelled
      if (withdrawn.signal.aborted) return;
      say(`call ${callId} was not asked about: ${error instanceof Error ? error.message : String(error)}`);
    });
  }

  async #approve(callId: string, signal: AbortSignal): Promise<void> {
    const { run, editor, workspace } = this.#options;
    const { pending } = await this.#list();
    const approval = pending.find((each) => each.callId === callId);
    if (!approval || signal.aborted) return;
    if (callId === BUDGET_APPROVAL) return await this.#reportLimit(approval);
    const { tool: name, args, title } = approval;
    const toolCall: ToolCallUpdate = { ...editorCall({ callId, name, args }, workspace), title };
    const outcome = await editor.choose({ toolCall, options: DECISIONS }, signal);
    if (outcome.outcome === 'cancelled') return;
    const by = editor.name;
    if (outcome.optionId === ALLOW) await this.#decide(() => run.approve(callId, { by }));
    else await this.#decide(() => run.deny(callId, { by }));
  }

  /** A limit is extended by an amount, which a button cannot say. */
  async #reportLimit({ title }: PendingApproval): Promise<void> {
    const { run, editor } = this.#options;
    const text = `\n\nThe run waits for an ${cleanText(title)}. Extend it with \`perdure extend ${run.runId}\`, or cancel.`;
    await editor.update({ sessionUpdate: 'agent_message_chunk', messageId: `${run.runId}.limit`, content: { type: 'text', text } });
  }

  async #question(callId: string, signal: AbortSignal): Promise<void> {
    const { editor, onText } = this.#options;
    const { questions = [] } = await this.#list();
    const question = questions.find((each) => each.callId === callId);
    if (!question || signal.aborted) return;
    if (editor.hasForms) return await this.#fill(question, signal);
    const options = questionButtons(question);
    if (!options) return await onText(callId, questionText(question));
    const toolCall: ToolCallUpdate = {
      toolCallId: question.call ?? callId,
      title: cleanText(question.question),
      kind: 'other',
      status: 'pending',
    };
    const outcome = await editor.choose({ toolCall, options }, signal);
    if (outcome.outcome === 'cancelled') return;
    await this.#answer(callId, outcome.optionId === DECLINE ? undefined : outcome.optionId);
  }

  async #fill(question: PendingQuestion, signal: AbortSignal): Promise<void> {
    const { callId, call = callId } = question;
    const text = cleanText(question.question);
    let message = text;
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      const form = { message, toolCallId: call, requestedSchema: questionForm(question) };
      const answer = formAnswer(question, await this.#options.editor.complete(form, signal));
      if (signal.aborted) return;
      try {
        return await this.#answer(callId, answer);
      } catch (error) {
        if (!(error instanceof PerdureError) || error.code !== 'BAD_ANSWER') throw error;
        message = `${text}\n\n(${error.message})`;
      }
    }
  }

  async #answer(callId: string, answer: string | undefined): Promise<void> {
    const { run, editor } = this.#options;
    const by = editor.name;
    await this.#decide(() => (answer === undefined ? run.deny(callId, { by }) : run.answer(callId, answer, { by })));
  }

  /** Lists what is open. One after the other, so that questions come in the order in which they were asked. */
  async #list(): Promise<ApprovalList> {
    const { run, ending } = this.#options;
    const before = this.#listed;
    const listed = (async (): Promise<ApprovalList> => {
      await before;
      return await patiently(() => run.approvals(), ending);
    })();
    this.#listed = listed.catch(() => undefined);
    return await listed;
  }

  /** Sends a decision until a worker takes it. Another person may be faster: the run has a decision then. */
  async #decide(send: () => Promise<unknown>): Promise<void> {
    try {
      await patiently(send, this.#options.ending);
    } catch (error) {
      if (!isDecided(error)) throw error;
    }
  }
}

/** Answers to one question that the run refuses, before the question is left to the command line. */
const ATTEMPTS_MAX = 5;

const ALLOW = 'allow';

const DECISIONS = [
  { optionId: ALLOW, name: 'Allow', kind: 'allow_once' as const },
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' as const },
];

/** True for the refusal of a decision on what is decided already, or gone. */
export function isDecided(error: unknown): boolean {
  return error instanceof PerdureError && DECIDED.has(error.code);
}

const DECIDED: ReadonlySet<string> = new Set(['ALREADY_DECIDED', 'ALREADY_ANSWERED', 'NO_SUCH_APPROVAL', 'NO_SUCH_QUESTION', 'RUN_CLOSED']);
