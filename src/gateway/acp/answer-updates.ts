import type { SessionUpdate, ToolCallStatus } from '@agentclientprotocol/sdk';
import type { RunEvent } from '../../contracts/event.js';
import type { ToolOutput } from '../http/chat/tool-output.js';
import type { UiChunk } from '../http/chat/ui-chunk.js';
import { type CalledTool, editorCall, endedContent } from './editor-call.js';
import { PLAN_TOOL, planEntries } from './editor-plan.js';
import { ShownText } from './shown-text.js';

/** A run whose answer is shown. */
export interface ShownRun {
  readonly runId: string;
  /** Absolute path, for paths in tool calls. */
  readonly workspace: string;
}

/** A call that the editor has. */
interface ShownCall extends CalledTool {
  /** True for a call that is shown as the plan of the editor. */
  readonly isPlan: boolean;
  hasEnded: boolean;
}

/**
 * Turns the chunks of an answer and the events of its run into updates for an editor. An editor cannot take an update back, so nothing is
 * sent twice: a text that another attempt repeats, a call, its result. Pure but for its own state.
 */
export class AnswerUpdates {
  readonly #run: ShownRun;
  readonly #calls = new Map<string, ShownCall>();
  #step = 0;
  #text = new ShownText();
  #thought = new ShownText();

  constructor(run: ShownRun) {
    this.#run = run;
  }

  /** Takes a chunk of the answer. */
  chunk(chunk: UiChunk): SessionUpdate[] {
    switch (chunk.type) {
      case 'start-step':
        this.#step += 1;
        this.#text = new ShownText();
        this.#thought = new ShownText();
        return [];
      case 'reset-step':
        this.#text.restart();
        this.#thought.restart();
        return [];
      case 'text-delta':
        return this.#say(chunk.delta);
      case 'reasoning-delta':
        return this.#think(chunk.delta);
      case 'tool-input-available':
        return this.#call({ callId: chunk.toolCallId, name: chunk.toolName, args: chunk.input });
      case 'tool-output-available':
        return this.#end(chunk.toolCallId, 'completed', chunk.output);
      case 'tool-output-error':
        return this.#end(chunk.toolCallId, 'failed', chunk.errorText);
      case 'tool-output-denied':
        return this.#end(chunk.toolCallId, 'failed', 'denied');
      case 'start':
      case 'text-start':
      case 'text-end':
      case 'reasoning-start':
      case 'reasoning-end':
      case 'finish-step':
      case 'finish':
      case 'message-metadata':
      case 'abort':
      case 'error':
        // the answer to the prompt has the end of the run
        return [];
      case 'tool-approval-request':
      case 'tool-approval-response':
      case 'data-waiting':
        // the editor is asked by a request
        return [];
    }
  }

  /** Takes an event of the run, after the chunks that it gave: how far a call is. */
  event(event: RunEvent): SessionUpdate[] {
    if (event.type === 'tool.call') return this.#status(event.callId, 'in_progress');
    if (event.type === 'tool.result') return this.#status(event.callId, event.isError ? 'failed' : 'completed');
    return [];
  }

  #say(delta: string): SessionUpdate[] {
    const before = this.#messageId(this.#text);
    const shown = this.#text.add(delta);
    if (!shown) return [];
    const messageId = this.#messageId(this.#text);
    const update: SessionUpdate = { sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text: shown.text } };
    if (!shown.isAnew) return [update];
    return [{ sessionUpdate: 'agent_message_chunk', messageId: before, content: { type: 'text', text: INTERRUPTED } }, update];
  }

  #think(delta: string): SessionUpdate[] {
    const shown = this.#thought.add(delta);
    if (!shown) return [];
    const messageId = `${this.#messageId(this.#thought)}.thought`;
    return [{ sessionUpdate: 'agent_thought_chunk', messageId, content: { type: 'text', text: shown.text } }];
  }

  #call(call: CalledTool): SessionUpdate[] {
    if (this.#calls.has(call.callId)) return [];
    const entries = call.name === PLAN_TOOL ? planEntries(call.args) : undefined;
    this.#calls.set(call.callId, { ...call, isPlan: entries !== undefined, hasEnded: false });
    if (entries) return [{ sessionUpdate: 'plan', entries }];
    return [{ sessionUpdate: 'tool_call', ...editorCall(call, this.#run.workspace) }];
  }

  #status(callId: string, status: ToolCallStatus): SessionUpdate[] {
    const call = this.#calls.get(callId);
    if (!call || call.hasEnded || call.isPlan) return [];
    return [{ sessionUpdate: 'tool_call_update', toolCallId: callId, status }];
  }

  #end(callId: string, status: 'completed' | 'failed', output: ToolOutput): SessionUpdate[] {
    const call = this.#calls.get(callId);
    if (!call || call.hasEnded) return [];
    call.hasEnded = true;
    if (call.isPlan) return [];
    const content = endedContent(call, output, { workspace: this.#run.workspace, isError: status === 'failed' });
    return [{ sessionUpdate: 'tool_call_update', toolCallId: callId, status, content, rawOutput: output }];
  }

  /** Id of the message that a text belongs to. A text that begins anew is another message. */
  #messageId({ restarts }: ShownText): string {
    return `${this.#run.runId}.${this.#step}${restarts === 0 ? '' : `.${restarts}`}`;
  }
}

/** At the end of a text that another attempt does not repeat. */
const INTERRUPTED = '\n\n*(interrupted, the answer begins again)*\n\n';
