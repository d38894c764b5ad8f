import type { SteerRecord } from '../../../contracts/schemas/run.js';
import type { Check, Evidence, Finding } from './evidence.js';

/** Each acknowledged message of a closed run is in exactly one final state, and is where that state says. */
export const messagesInOneState: Check = (evidence) => {
  if (!evidence.result) return [];
  return evidence.sent.flatMap(({ id, acknowledged }) => {
    const records = evidence.steers.filter((record) => record.id === id);
    const problem = records.length > 1 ? `has ${records.length} records` : problemOf(records[0], id, acknowledged, evidence);
    return problem === undefined ? [] : [lost(`message ${id} ${problem}`)];
  });
};

function problemOf(record: SteerRecord | undefined, id: string, acknowledged: boolean, evidence: Evidence): string | undefined {
  const inTranscript = evidence.transcript.filter((message) => message.id === id).length;
  const inUnconsumed = evidence.result?.unconsumed.filter((message) => message.id === id).length ?? 0;
  if (!record) return acknowledged ? 'was acknowledged, and the run has no record of it' : undefined;
  if (record.state === 'queued') return 'is still queued in a closed run';
  // a compacted transcript no longer has its old messages
  const isCompacted = evidence.transcript.some(({ origin }) => origin === 'summary');
  if (record.state === 'delivered' && inTranscript !== 1 && !isCompacted)
    return `is delivered, and ${inTranscript} times in the transcript`;
  if (record.state === 'unconsumed' && inUnconsumed !== 1) return `is unconsumed, and ${inUnconsumed} times in the result`;
  if (record.state !== 'delivered' && inTranscript > 0) return `is ${record.state}, and in the transcript`;
  if (record.state !== 'unconsumed' && inUnconsumed > 0) return `is ${record.state}, and unconsumed in the result`;
  return undefined;
}

function lost(message: string): Finding {
  return { kind: 'lost', check: 'messages-in-one-state', message };
}
