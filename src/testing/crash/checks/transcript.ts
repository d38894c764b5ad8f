import { textOf } from '../../../contracts/message-text.js';
import type { Check, Finding } from './evidence.js';

/** Each tool call of the transcript has exactly one result, after it and before the next answer. No result is without its call. */
export const pairedTranscript: Check = ({ transcript }) => {
  const findings: Finding[] = [];
  const open = new Set<string>();
  const seen = new Set<string>();
  for (const { role, parts } of transcript) {
    if (role === 'assistant') {
      for (const callId of open) findings.push(unpaired(`call ${callId} has no result before the next answer`));
      open.clear();
    }
    for (const part of parts) {
      if (part.type === 'tool_call') {
        if (seen.has(part.callId)) findings.push(unpaired(`call ${part.callId} is twice in the transcript`));
        seen.add(part.callId);
        open.add(part.callId);
      } else if (part.type === 'tool_result' && !open.delete(part.callId)) {
        findings.push(unpaired(`the result of call ${part.callId} has no open call`));
      }
    }
  }
  return [...findings, ...[...open].map((callId) => unpaired(`call ${callId} has no result`))];
};

/** No message is in the transcript twice. */
export const uniqueMessages: Check = ({ transcript }) => {
  const ids = transcript.map(({ id }) => id);
  const twice = new Set(ids.filter((id, index) => ids.indexOf(id) !== index));
  return [...twice].map((id) => ({ kind: 'broken', check: 'unique-messages', message: `message ${id} is twice in the transcript` }));
};

/** A completed run has one final answer: the last message, without calls, whose text is the output of the result. */
export const oneFinalAnswer: Check = ({ transcript, result }) => {
  if (result?.reason !== 'completed') return [];
  const last = transcript.at(-1);
  if (last?.role !== 'assistant') return broken(`the last message is of role ${last?.role ?? 'none'}, not an answer`);
  if (last.parts.some(({ type }) => type === 'tool_call')) return broken('the last answer has tool calls');
  if (textOf(last) !== result.output) {
    return broken(`the output ${JSON.stringify(result.output)} is not the last answer ${JSON.stringify(textOf(last))}`);
  }
  return [];
};

function broken(message: string): readonly Finding[] {
  return [{ kind: 'broken', check: 'one-final-answer', message }];
}

function unpaired(message: string): Finding {
  return { kind: 'broken', check: 'paired-transcript', message };
}
