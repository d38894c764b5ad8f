import type { RunHandle } from '../../client/run-handle.js';
import type { WatchItem } from '../../client/watch/watch-run.js';
import type { RunEvent } from '../../contracts/event.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { BUDGET_APPROVAL } from '../../contracts/text/ids.js';
import { type Asked, askedLines } from '../terminal/decision-prompt.js';
import type { Pressed } from '../terminal/keyboard.js';
import { editLine, NOTHING_TYPED, type Typed } from '../terminal/line-editor.js';
import type { LiveDisplay } from '../terminal/live-display.js';
import { plainLine } from '../terminal/styled-text.js';

/** An approval decides nothing for this time after it appears: a key may have been meant for a text. */
const KEYS_AFTER_MS = 500;

/** A run, its display, and who controls it. */
export interface Controlled {
  readonly run: Pick<RunHandle, 'runId' | 'steer' | 'approve' | 'deny' | 'answer' | 'hold' | 'release'>;
  readonly display: Pick<LiveDisplay, 'setPrompt' | 'print' | 'say' | 'callOf'>;
  /** Leaves the run, which continues. */
  readonly detach: () => void;
  /** The name of the person, for decisions. */
  readonly decidedBy: { readonly by?: string };
}

/**
 * The keys while a run is followed on a terminal. `y` and `n` decide an approval, a line answers a question or is a message to the agent.
 * The first Ctrl-C holds the run before its next turn, so that a message can be typed; the second one detaches.
 */
export class RunControls {
  readonly #controlled: Controlled;
  /** What waits for a person, by call, with the time from which keys count. Undefined for what may be decided already. */
  readonly #asked = new Map<string, { readonly asked: Asked; readonly keysFrom: number | undefined }>();
  readonly #sent = new Set<string>();
  #typed: Typed = NOTHING_TYPED;
  /** True once the past events are read. What is asked later is open at once. */
  #isCaughtUp = false;
  #isHeld = false;
  #isDetaching = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(controlled: Controlled) {
    this.#controlled = controlled;
    this.#draw();
  }

  /** Takes the next item of the watch. */
  take(item: WatchItem): void {
    if (item.type === 'event') this.#takeEvent(item.event);
    // what was decided before the watch started is known once the past events are read
    if (item.type === 'progress') this.#openAsked();
    if (item.type === 'event' || item.type === 'progress') this.#draw();
  }

  press(pressed: Pressed): void {
    if (pressed.kind === 'interrupt') this.#interrupt();
    else if (pressed.kind === 'enter') this.#enter(this.#typed.text.trim());
    else if (pressed.kind === 'escape') this.#typed = NOTHING_TYPED;
    else if (pressed.kind === 'end-of-input') this.#typed = editLine(this.#typed, { kind: 'delete' });
    else if (!this.#decides(pressed)) this.#typed = editLine(this.#typed, pressed);
    this.#draw();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#controlled.display.setPrompt(undefined);
  }

  #takeEvent(event: RunEvent): void {
    if (event.type === 'approval.asked' || event.type === 'question.asked') {
      this.#asked.set(event.callId, { asked: event, keysFrom: this.#isCaughtUp ? Date.now() + KEYS_AFTER_MS : undefined });
    } else if (event.type === 'approval.decided' || event.type === 'question.answered') {
      this.#asked.delete(event.callId);
      this.#sent.delete(event.callId);
    } else if (event.type === 'released') {
      this.#isHeld = false;
    }
  }

  #openAsked(): void {
    this.#isCaughtUp = true;
    for (const [callId, { asked, keysFrom }] of this.#asked) {
      if (keysFrom === undefined) this.#asked.set(callId, { asked, keysFrom: Date.now() + KEYS_AFTER_MS });
    }
  }

  /** What is shown: the oldest that was not decided here. */
  get #current(): { asked: Asked; keysFrom: number } | undefined {
    for (const [callId, { asked, keysFrom }] of this.#asked)
      if (keysFrom !== undefined && !this.#sent.has(callId)) return { asked, keysFrom };
    return undefined;
  }

  /** True if the key decides the approval that is shown. */
  #decides(pressed: Pressed): boolean {
    const current = this.#current;
    if (pressed.kind !== 'insert' || this.#typed.text !== '' || current?.asked.type !== 'approval.asked') return false;
    const { callId } = current.asked;
    const isYes = pressed.text.toLowerCase() === 'y' && callId !== BUDGET_APPROVAL;
    if ((!isYes && pressed.text.toLowerCase() !== 'n') || Date.now() < current.keysFrom) return false;
    const { run } = this.#controlled;
    this.#send(callId, () => (isYes ? run.approve(callId, this.#controlled.decidedBy) : run.deny(callId, this.#controlled.decidedBy)));
    return true;
  }

  #enter(text: string): void {
    const { run, display } = this.#controlled;
    const asked = this.#current?.asked;
    this.#typed = NOTHING_TYPED;
    if (text !== '') display.print([plainLine(`> ${text}`, 'bold')]);
    if (asked?.type === 'question.asked') {
      if (text !== '') this.#send(asked.callId, () => run.answer(asked.callId, text, this.#controlled.decidedBy));
      return;
    }
    const isHeld = this.#isHeld;
    this.#isHeld = false;
    if (text === '' && !isHeld) return;
    this.#send(undefined, async () => {
      if (text !== '') await run.steer(isHeld ? { text, mode: 'interrupt' } : { text });
      // the message is there before the run continues
      if (isHeld) await run.release();
    });
  }

  #interrupt(): void {
    const { run, detach, decidedBy } = this.#controlled;
    if (this.#typed.text !== '') {
      this.#typed = NOTHING_TYPED;
      return;
    }
    if (!this.#isHeld) {
      this.#isHeld = true;
      this.#send(undefined, () => run.hold(decidedBy));
      return;
    }
    if (this.#isDetaching) return detach();
    this.#isDetaching = true;
    // the run continues without this person
    void this.#try(() => run.release()).finally(detach);
  }

  /** Sends a decision, or another request. A decision that is refused is asked for again. */
  #send(callId: string | undefined, send: () => Promise<unknown>): void {
    if (callId !== undefined) this.#sent.add(callId);
    void this.#deliver(callId, send);
  }

  async #deliver(callId: string | undefined, send: () => Promise<unknown>): Promise<void> {
    if ((await this.#try(send)) || callId === undefined) return;
    this.#sent.delete(callId);
    this.#draw();
  }

  async #try(send: () => Promise<unknown>): Promise<boolean> {
    try {
      await send();
      return true;
    } catch (error) {
      const { code, message } = error instanceof PerdureError ? error : { code: 'INTERNAL', message: String(error) };
      this.#controlled.display.say(`${code}: ${message}`);
      return false;
    }
  }

  #draw(): void {
    const { run, display } = this.#controlled;
    const current = this.#current;
    const takesKeys = current !== undefined && Date.now() >= current.keysFrom;
    clearTimeout(this.#timer);
    if (current && !takesKeys) this.#timer = setTimeout(() => this.#draw(), current.keysFrom - Date.now()).unref();
    const others = [...this.#asked.keys()].filter((callId) => !this.#sent.has(callId)).length - 1;
    const { asked } = current ?? {};
    const lines = asked ? askedLines({ runId: run.runId, asked, call: display.callOf(asked.callId), takesKeys, others }) : [];
    display.setPrompt({ lines, input: this.#typed, hint: this.#hint(asked) });
  }

  #hint(asked: Asked | undefined): string {
    if (this.#isHeld) return 'type a message, or press Enter to continue; Ctrl-C detaches';
    if (asked?.type === 'question.asked') return 'answer';
    return 'message to the agent; Ctrl-C interrupts';
  }
}
