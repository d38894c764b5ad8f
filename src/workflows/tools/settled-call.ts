import type { CallToolResult, ToolOutcome } from '../../contracts/activities.js';
import { hashMessage } from '../../contracts/digest.js';
import type { Message } from '../../contracts/schemas/message.js';

/** A call with its result. `returned`: an activity made the message, so its worker has it cached. */
export interface SettledCall {
  readonly message: Message;
  readonly hash: string;
  readonly returned: boolean;
  /** The reason of a hook after the tool that aborts the run. */
  readonly abort?: string;
}

/** A call with its result and how it ended. */
export interface Settled {
  readonly call: SettledCall;
  readonly outcome: ToolOutcome;
}

/** A call that an activity settled. */
export function settledBy(result: CallToolResult): Settled {
  const { message, hash, outcome, abort } = result;
  return { call: { message, hash, returned: true, ...(abort === undefined ? {} : { abort }) }, outcome };
}

/** A call that the workflow settled with a message of its own. */
export function settledOwn(message: Message, outcome: ToolOutcome): Settled {
  return { call: { message, hash: hashMessage(message), returned: false }, outcome };
}
