import { DECISION_LIMITS } from '../../../contracts/constants/limits.js';
import type { ApprovalList, PendingApproval } from '../../../contracts/schemas/approval.js';
import type { JsonValue } from '../../../contracts/schemas/message.js';
import type { AnsweredQuestion, PendingQuestion } from '../../../contracts/schemas/question.js';
import { cutText } from '../../../contracts/text/redact.js';

/** The size of an entry without its arguments. */
const ENTRY_BYTES = 1_000;

/**
 * The list for query answers, limited to about `bytesMax`: long arguments are cut to the beginning of their JSON text, and the oldest
 * decisions are left out. All pending approvals are included. Pure.
 */
export function fitApprovals(list: ApprovalList, bytesMax: number): ApprovalList {
  const each = Math.floor(bytesMax / 2 / Math.max(1, list.pending.length)) - ENTRY_BYTES;
  const argsBytesMax = Math.max(100, Math.min(DECISION_LIMITS.argsShownBytesMax, each));
  return {
    pending: list.pending.map((approval) => ({ ...approval, args: shownArgs(approval.args, argsBytesMax) }) satisfies PendingApproval),
    decided: newestThatFit(list.decided, bytesMax / 4),
  };
}

/** Arguments for a list: unchanged, or the beginning of their JSON text. */
export function shownArgs(args: JsonValue, bytesMax: number): JsonValue {
  const text = JSON.stringify(args);
  const shown = cutText(text, bytesMax);
  return shown === text ? args : shown;
}

/** Questions for a list, limited to about `bytesMax`: long texts are cut, and the oldest ended questions are left out. Pure. */
export function fitQuestions(
  { pending, answered }: { readonly pending: readonly PendingQuestion[]; readonly answered: readonly AnsweredQuestion[] },
  bytesMax: number,
): Pick<ApprovalList, 'questions' | 'answered'> {
  const each = Math.max(500, Math.floor(bytesMax / 2 / Math.max(1, pending.length)));
  return {
    questions: pending.map(({ question, choices = [], ...others }) => ({
      ...others,
      question: cutText(question, each / 2),
      ...(choices.length === 0 ? {} : { choices: choices.map((choice) => cutText(choice, each / 2 / choices.length)) }),
    })),
    answered: newestThatFit(answered, bytesMax / 2),
  };
}

function newestThatFit<Entry>(decided: readonly Entry[], bytesMax: number): readonly Entry[] {
  let bytes = 0;
  const first = decided.findLastIndex((approval) => {
    bytes += JSON.stringify(approval).length;
    return bytes > bytesMax;
  });
  return decided.slice(first + 1);
}

/** The newest entries that fit into the number and the bytes of JSON, in their order. */
export function fitNewest<Entry>(entries: readonly Entry[], bounds: { readonly countMax: number; readonly bytesMax: number }): Entry[] {
  const newest = entries.slice(-bounds.countMax);
  // two brackets, and a comma before each entry but one
  let bytes = 1;
  const first = newest.findLastIndex((entry) => {
    bytes += bytesOf(entry) + 1;
    return bytes > bounds.bytesMax;
  });
  return newest.slice(first + 1);
}

function bytesOf(entry: unknown): number {
  return new TextEncoder().encode(JSON.stringify(entry)).length;
}
