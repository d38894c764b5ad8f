import type { RunHandle } from '../../client/run-handle.js';
import type { WatchItem } from '../../client/watch/watch-run.js';
import type { RunEvent } from '../../contracts/event.js';
import { BUDGET_APPROVAL } from '../../contracts/text/ids.js';
import { type Asked, askedLines, type Reviewed } from '../terminal/decision-prompt.js';
import type { Pressed } from '../terminal/keyboard.js';
import { type Draft, editLine, NOTHING_TYPED, type Typed } from '../terminal/line-editor.js';
import type { LiveDisplay } from '../terminal/live-display.js';
import { type Line, plainLine } from '../terminal/styled-text.js';
import { CallReview } from './call-review.js';
import { Requests } from './requests.js';
import { RunHold, type SendMessage } from './run-hold.js';

/** An approval decides nothing for this time after it is shown: a key may have been meant for a text, or for the one before. */
const KEYS_AFTER_MS = 500;
/** A detach waits no longer for the release of a held run. The hold ends by itself. */
const RELEASE_WAIT_MS = 1_000;

/** A run, its display, and who controls it. */
export interface Controlled {
  readonly run: Pick<RunHandle, 'runId' | 'approve' | 'deny' | 'answer' | 'approvals' | 'hold' | 'release'>;
  /** Sends a message to the run, or to its session. */
  readonly send: SendMessage;
  readonly display: Pick<LiveDisplay, 'setPrompt' | 'print' | 'say' | 'callOf' | 'columns'>;
  /** The line that is typed. What is in it when the controls close stays there. */
  readonly draft: Draft;
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
  readonly #requests: Requests;
  readonly #hold: RunHold;
  readonly #review: CallReview;
  /** What waits for a person, by call. */
  readonly #asked = new Map<string, Asked>();
  readonly #sent = new Set<string>();
  /** What is on the screen, and the time from which keys decide it. */
  #shown = { id: '', keysFrom: 0 };
  /** The question that the line answers. Undefined for a message. A line keeps its receiver from its first character on. */
  #answers: string | undefined;
  /** True once the past events are read: what was decided before is known then. */
  #isCaughtUp = false;
  #isDetaching = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(controlled: Controlled) {
    const { run, send, display, decidedBy } = controlled;
    this.#controlled = controlled;
    this.#requests = new Requests((line) => display.say(line));
    this.#hold = new RunHold({ run, send, by: decidedBy, requests: this.#requests });
    this.#review = new CallReview({ run, display, onPrinted: () => this.#draw() });
    this.#draw();
  }

  /** Takes the next item of the watch. */
  take(item: WatchItem): void {
    if (item.type === 'event') this.#takeEvent(item.event);
    if (item.type === 'progress') this.#isCaughtUp = true;
    if (item.type === 'event' || item.type === 'progress') this.#draw();
  }

  press(pressed: Pressed): void {
    // nothing new starts while this person leaves
    if (this.#isDetaching && pressed.kind !== 'interrupt') return;
    if (pressed.kind === 'interrupt') this.#interrupt();
    else if (pressed.kind === 'enter') this.#enter(this.#typed.text.trim());
    else if (pressed.kind === 'escape') this.#typed = NOTHING_TYPED;
    else if (pressed.kind === 'end-of-input') this.#typed = editLine(this.#typed, { kind: 'delete' });
    else if (!this.#decides(pressed)) this.#type(pressed);
    this.#draw();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#isClosed = true;
    this.#controlled.display.setPrompt(undefined);
  }

  #takeEvent(event: RunEvent): void {
    this.#hold.take(event);
    if (event.type === 'approval.asked' || event.type === 'question.asked') {
      this.#asked.set(event.callId, event);
    } else if (event.type === 'approval.decided' || event.type === 'question.answered') {
      this.#asked.delete(event.callId);
      this.#sent.delete(event.callId);
    }
  }

  get #typed(): Typed {
    return this.#controlled.draft.typed;
  }

  set #typed(typed: Typed) {
    this.#controlled.draft.typed = typed;
  }

  /** What is shown: the oldest that was not decided here. */
  get #current(): Asked | undefined {
    if (!this.#isCaughtUp) return undefined;
    for (const [callId, asked] of this.#asked) if (!this.#sent.has(callId)) return asked;
    return undefined;
  }

  /** True if the key decides the approval that is shown, or prints more of its call. */
  #decides(pressed: Pressed): boolean {
    const asked = this.#current;
    if (pressed.kind !== 'insert' || this.#typed.text !== '' || asked?.type !== 'approval.asked') return false;
    if (Date.now() < this.#shown.keysFrom) return false;
    const { callId } = asked;
    const { run, decidedBy } = this.#controlled;
    const reviewed = this.#reviewed(asked);
    const key = pressed.text.toLowerCase();
    if (key === 'n') void this.#decide(callId, () => run.deny(callId, decidedBy));
    else if (callId === BUDGET_APPROVAL) return false;
    else if (key === 'y' && reviewed === 'whole') void this.#decide(callId, () => run.approve(callId, decidedBy));
    else if (key === 'v' && (reviewed === 'part' || reviewed === 'unknown')) this.#review.more(asked);
    else return false;
    return true;
  }

  #type(pressed: Parameters<typeof editLine>[1]): void {
    if (this.#typed.text === '') {
      const asked = this.#current;
      this.#answers = asked?.type === 'question.asked' && !this.#hold.isOn ? asked.callId : undefined;
    }
    this.#typed = editLine(this.#typed, pressed);
  }

  #enter(text: string): void {
    const { display, run, decidedBy } = this.#controlled;
    const answers = text === '' ? undefined : this.#answers;
    if (answers !== undefined && (!this.#asked.has(answers) || this.#sent.has(answers))) {
      this.#answers = undefined;
      display.say('the question is closed; press Enter again to send the text as a message, or Escape to clear it');
      return;
    }
    const typed = this.#typed;
    this.#typed = NOTHING_TYPED;
    if (text !== '') display.print([plainLine(`> ${text}`, 'bold')]);
    if (answers !== undefined) void this.#decide(answers, () => run.answer(answers, text, decidedBy));
    else if (text !== '' || this.#hold.isOn) void this.#message(text, typed);
  }

  /** Sends a message. One that is refused is put back into the line, unless another one was begun. */
  async #message(text: string, typed: Typed): Promise<void> {
    const isSent = await this.#hold.send(text);
    if (!isSent && this.#typed.text === '') {
      this.#typed = typed;
      this.#answers = undefined;
    }
    this.#draw();
  }

  #interrupt(): void {
    if (this.#typed.text !== '') {
      this.#typed = NOTHING_TYPED;
      return;
    }
    if (!this.#hold.isOn) return void this.#hold.hold().finally(() => this.#draw());
    if (this.#isDetaching) return this.#controlled.detach();
    this.#isDetaching = true;
    // the run continues without this person
    const timeout = new Promise((resolve) => setTimeout(resolve, RELEASE_WAIT_MS).unref());
    void Promise.race([this.#hold.release(), timeout]).finally(() => this.#controlled.detach());
  }

  /** Sends a decision or an answer. One that is refused is asked for again. */
  async #decide(callId: string, send: () => Promise<unknown>): Promise<void> {
    this.#sent.add(callId);
    if (!(await this.#requests.send(send))) this.#sent.delete(callId);
    this.#draw();
  }

  #reviewed(asked: Asked): Reviewed {
    return asked.type === 'approval.asked' && asked.callId !== BUDGET_APPROVAL ? this.#review.review(asked) : 'whole';
  }

  #draw(): void {
    if (this.#isClosed) return;
    const { run, display } = this.#controlled;
    const asked = this.#current;
    const reviewed = asked ? this.#reviewed(asked) : 'whole';
    const id = asked ? `${asked.callId} ${reviewed}` : '';
    if (id !== this.#shown.id) this.#shown = { id, keysFrom: Date.now() + KEYS_AFTER_MS };
    const waitMs = this.#shown.keysFrom - Date.now();
    const takesKeys = waitMs <= 0;
    clearTimeout(this.#timer);
    if (asked && !takesKeys) this.#timer = setTimeout(() => this.#draw(), waitMs).unref();
    const others = [...this.#asked.keys()].filter((callId) => !this.#sent.has(callId)).length - 1;
    const call = asked && display.callOf(asked.callId);
    const lines = asked ? askedLines({ runId: run.runId, asked, call, takesKeys, reviewed, others }) : [];
    display.setPrompt({ lines: [...lines, ...this.#receiver(asked)], input: this.#typed, hint: this.#hint(asked) });
  }

  /** Says so if the line does not answer the question that is shown. */
  #receiver(asked: Asked | undefined): Line[] {
    const isOther = this.#typed.text !== '' && asked?.type === 'question.asked' && this.#answers !== asked.callId;
    return isOther ? [plainLine('  the line below does not answer this question', 'warning')] : [];
  }

  #hint(asked: Asked | undefined): string {
    if (this.#hold.isOn) return 'type a message, or press Enter to continue; Ctrl-C detaches';
    if (asked?.type === 'question.asked') return 'answer';
    return 'message to the agent; Ctrl-C interrupts';
  }
}
