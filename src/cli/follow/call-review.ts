import type { RunHandle } from '../../client/run-handle.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { JsonValue } from '../../contracts/schemas/message.js';
import { cutPosition } from '../../contracts/text/sanitize-text.js';
import type { Asked, Reviewed } from '../terminal/decision-prompt.js';
import type { LiveDisplay } from '../terminal/live-display.js';
import { plainLine } from '../terminal/styled-text.js';
import { quotedLines, wholeCallText } from '../terminal/whole-call.js';

/** Characters of a call that are printed at once. A key prints the rest. */
const PRINTED_CHARS_MAX = 8_000;

type AskedApproval = Extract<Asked, { type: 'approval.asked' }>;

/** Where calls are printed, and where their arguments come from. */
export interface ReviewDesk {
  readonly run: Pick<RunHandle, 'runId' | 'approvals'>;
  readonly display: Pick<LiveDisplay, 'print' | 'say' | 'callOf' | 'columns'>;
  /** Called when more of a call was printed. */
  readonly onPrinted: () => void;
}

/** Prints each call that needs approval once, with all its arguments, as lines that stay. Nobody can approve a call that was printed in part. */
export class CallReview {
  readonly #desk: ReviewDesk;
  /** The text of each call that is not printed yet. Undefined while its arguments are read. */
  readonly #rests = new Map<string, string | undefined>();

  /** Texts of each call that are printed but not on the screen yet. */
  readonly #unshown = new Map<string, number>();

  constructor(desk: ReviewDesk) {
    this.#desk = desk;
  }

  /** How much of a call was printed. The first time, prints it or asks for its arguments. */
  review(asked: AskedApproval): Reviewed {
    const { callId, tool } = asked;
    if (!this.#rests.has(callId)) {
      this.#rests.set(callId, undefined);
      const args = parsed(asked.args) ?? this.#desk.display.callOf(callId)?.args;
      if (args === undefined) void this.#ask(asked);
      else this.#begin(callId, wholeCallText({ tool, args }));
    }
    const rest = this.#rests.get(callId);
    if (rest === undefined) return 'unknown';
    if ((this.#unshown.get(callId) ?? 0) > 0) return 'printing';
    return rest === '' ? 'whole' : 'part';
  }

  /** Prints the rest of a call, or asks for its arguments again. */
  more(asked: AskedApproval): void {
    const rest = this.#rests.get(asked.callId);
    if (rest === undefined) return void this.#ask(asked);
    this.#rests.set(asked.callId, '');
    this.#print(asked.callId, rest);
  }

  #begin(callId: string, text: string): void {
    const cut = cutPosition(text, PRINTED_CHARS_MAX);
    const rest = text.slice(cut);
    this.#rests.set(callId, rest);
    this.#print(callId, text.slice(0, cut));
    if (rest !== '') this.#desk.display.print([plainLine(`  … ${rest.length.toLocaleString('en')} more characters`, 'warning')]);
  }

  #print(callId: string, text: string): void {
    const { display, onPrinted } = this.#desk;
    this.#unshown.set(callId, (this.#unshown.get(callId) ?? 0) + 1);
    display.print(quotedLines(text, display.columns), () => {
      this.#unshown.set(callId, (this.#unshown.get(callId) ?? 1) - 1);
      onPrinted();
    });
  }

  async #ask(asked: AskedApproval): Promise<void> {
    const { run, display, onPrinted } = this.#desk;
    try {
      const { pending } = await run.approvals();
      const found = pending.find(({ callId }) => callId === asked.callId);
      if (!found || this.#rests.get(asked.callId) !== undefined) return;
      this.#begin(asked.callId, wholeCallText(found));
    } catch (error) {
      if (!(error instanceof PerdureError)) throw error;
      display.say(`${error.code}: the arguments of the call could not be read: ${error.message}`);
    }
    onPrinted();
  }
}

/** The arguments in an event, unless they were cut there. */
function parsed(args: string | undefined): JsonValue | undefined {
  if (args === undefined) return undefined;
  try {
    // it was written from a JSON value
    return JSON.parse(args) as JsonValue;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
