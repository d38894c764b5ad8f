import { expect } from 'vitest';
import type { Message, Part } from '../../../src/contracts/schemas/message.js';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import type { ModelAnswer, ModelRequest, StreamDelta } from '../../../src/providers/contract/provider.js';
import type { RecordedRequest } from '../../../src/testing/wire-server.js';
import { readAllSent } from '../support/raw-server.js';
import { modelRequest } from '../support/wire.js';
import type { ProviderSubject, ScriptedSubject } from './provider-subject.js';
import type { Reply } from './scripted-server.js';

/** A gateway that loads its modules on a busy machine may be silent for longer than any real one. */
const IDLE_MS = 90_000;

/** A question to a provider: what its server is to answer, and what of the request matters. */
export interface Question extends Partial<Omit<ModelRequest, 'model' | 'onDelta'>> {
  /** Played by a scripted server; a real model answers as it likes. */
  readonly reply?: Reply;
  /** @default the right one */
  readonly apiKey?: string;
  /** How many requests the server must get. One that silence ends on a busy machine may not get its request. @default 1 */
  readonly requests?: 0 | 1 | 'at most one';
  /** Called for each piece as it comes. */
  readonly seen?: (delta: StreamDelta) => void;
}

/** An answer, and how it came. */
export interface Asked {
  readonly answer: ModelAnswer;
  readonly deltas: readonly StreamDelta[];
  /** As the server got it; absent of a real one. */
  readonly record: RecordedRequest | undefined;
}

/** Asks once. Fails when the server got any other number of requests, whatever came of it; else throws what the provider throws. */
export async function ask(subject: ProviderSubject, { reply, apiKey, seen, requests = 1, ...fields }: Question): Promise<Asked> {
  const { server, model } = subject;
  if (reply) server?.answerWith(reply);
  const before = server?.requests.length ?? 0;
  const deltas: StreamDelta[] = [];
  const onDelta = (delta: StreamDelta): void => {
    deltas.push(delta);
    seen?.(delta);
  };
  const request = modelRequest({ idleMs: IDLE_MS, ...fields, model, onDelta });
  const [outcome] = await Promise.allSettled([subject.provider(apiKey).call(request)]);
  const came = outcome.status === 'rejected' ? String(outcome.reason) : 'an answer';
  if (requests === 'at most one') await readAllSent();
  const count = (server?.requests.length ?? 0) - before;
  const expected = requests === 'at most one' ? Math.min(count, 1) : requests;
  if (server) expect(count, `requests of one attempt, of which came: ${came}`).toBe(expected);
  if (outcome.status === 'rejected') throw outcome.reason;
  return { answer: outcome.value, deltas, record: server?.requests.at(-1) };
}

/** Asks once for a failure. Fails when an answer comes, or an error that is not the provider's own. */
export async function failureOf(subject: ScriptedSubject, question: Question): Promise<ModelError> {
  const error: unknown = await ask(subject, question).then(
    ({ answer }) => answer,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ModelError) return error;
  throw error instanceof Error ? error : new Error(`an answer in place of a failure: ${JSON.stringify(error)}`);
}

/** A message of a transcript; text may be given as it is. */
export function message(role: Message['role'], ...parts: readonly (Part | string)[]): Message {
  return { id: 'm', role, parts: parts.map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part)) };
}

/** An answer as the transcript keeps it: with call ids of our own, for those of providers are not unique. */
export function kept(answer: ModelAnswer, turn: number): Message {
  const parts = answer.parts.map((part, index) => (part.type === 'tool_call' ? { ...part, callId: `t${turn}_${index}` } : part));
  return message('assistant', ...parts);
}

/** A result for each call of an answer, in order. */
export function resultsOf(answer: Message, text: (index: number) => string): Message[] {
  const calls = answer.parts.filter((part) => part.type === 'tool_call');
  return calls.map(({ callId }, index) =>
    message('tool', { type: 'tool_result', callId, isError: false, parts: [{ type: 'text', text: text(index) }] }),
  );
}
