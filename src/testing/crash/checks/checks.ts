import { equalKeys, onceAtMostOnce, resultsAreReal } from './effects.js';
import { answers, endsInTime, noFailedTask, plainResult, rightReason, workersLive } from './end.js';
import type { Check, Evidence, Finding } from './evidence.js';
import { messagesInOneState } from './messages.js';
import { oneFinalAnswer, pairedTranscript, uniqueMessages } from './transcript.js';

const CHECKS: readonly Check[] = [
  endsInTime,
  rightReason,
  onceAtMostOnce,
  equalKeys,
  resultsAreReal,
  messagesInOneState,
  pairedTranscript,
  uniqueMessages,
  oneFinalAnswer,
  plainResult,
  noFailedTask,
  workersLive,
  answers,
];

/** Runs all checks on the evidence of one run. Empty: all promises were kept. */
export function checkRun(evidence: Evidence): readonly Finding[] {
  return CHECKS.flatMap((check) => check(evidence));
}
