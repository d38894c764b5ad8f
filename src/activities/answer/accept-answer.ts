import { Context } from '@temporalio/activity';
import type { AcceptAnswerInput, AcceptAnswerResult } from '../../contracts/activities.js';
import { HOOK_LIMITS, OUTPUT_SCHEMA_LIMITS, PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import type { JsonValue } from '../../contracts/schemas/message.js';
import { cutText, redact } from '../../contracts/text/redact.js';
import { NO_SECRETS, type SecretMask } from '../../contracts/text/secret-mask.js';
import { CompletionDecision, type CompletionGate } from '../../define/agent/completion-gate.js';
import { rejectedBy } from '../../providers/http/abortable.js';
import { throwIfStopped } from '../runtime/cancellation.js';
import { messageOf } from '../runtime/failures.js';
import { withHeartbeat } from '../runtime/heartbeat.js';
import { type ReadTranscriptOptions, readTranscript } from '../transcript/read-transcript.js';
import { answerJson } from './extract-json.js';
import type { OutputSchema } from './output-schema.js';
import { checkJson } from './validate-json.js';

/** The dependencies of the activity. */
export interface AcceptAnswerOptions {
  readonly transcripts: Pick<ReadTranscriptOptions, 'cache' | 'query'>;
  /** The `completionGate` of each agent that has one, by the agent's name. */
  readonly completionGates: ReadonlyMap<string, CompletionGate>;
  /** The time limit of a gate, in milliseconds. @default 10 s */
  readonly gateTimeoutMs?: number;
  /** Masked in corrections. @default none */
  readonly secrets?: SecretMask;
}

/**
 * Makes the activity `acceptAnswer`, which decides whether an answer may end the run: by the output schema, then by the agent's completion
 * gate. It fails closed: a gate that throws, times out or is missing on this worker rejects, with the reason for the model.
 */
export function createAcceptAnswer(options: AcceptAnswerOptions): (input: AcceptAnswerInput) => Promise<AcceptAnswerResult> {
  return (input) => {
    const startedAt = Date.now();
    return withHeartbeat(
      'acceptAnswer',
      () => ({ phase: 'checking the answer', elapsedMs: Date.now() - startedAt }),
      () => acceptAnswer(input, options),
    );
  };
}

async function acceptAnswer(input: AcceptAnswerInput, options: AcceptAnswerOptions): Promise<AcceptAnswerResult> {
  const fitting = input.outputSchema === undefined ? {} : await fitSchema(input.text, input.outputSchema);
  throwIfStopped('the check of the answer');
  if (fitting.problems) return { accept: false, by: 'schema', correction: schemaCorrection(fitting.problems, input.outputSchema ?? {}) };
  const { structured } = fitting;
  const decision = input.gate ? await runCompletionGate(input, options, structured) : ({ accept: true } as const);
  if (!decision.accept) return { accept: false, by: 'gate', correction: decision.correction };
  return { accept: true, ...(structured === undefined ? {} : { structured }) };
}

/** The JSON of an answer that matches the schema, or the problems of one that does not. */
interface Fitting {
  readonly structured?: JsonValue;
  readonly problems?: readonly string[];
}

async function fitSchema(text: string, schema: OutputSchema): Promise<Fitting> {
  const read = answerJson(text);
  if ('problem' in read) return { problems: [read.problem] };
  const bytes = Buffer.byteLength(JSON.stringify(read.value));
  if (bytes > OUTPUT_SCHEMA_LIMITS.answerBytesMax) {
    return { problems: [`its JSON has ${bytes} bytes; the limit is ${OUTPUT_SCHEMA_LIMITS.answerBytesMax}`] };
  }
  const problems = await checkJson(read.value, schema, Context.current().cancellationSignal);
  return problems.length === 0 ? { structured: read.value } : { problems };
}

function schemaCorrection(problems: readonly string[], schema: OutputSchema): string {
  const list = problems.map((problem) => `- ${problem}`).join('\n');
  const excerpt = cutText(JSON.stringify(schema), OUTPUT_SCHEMA_LIMITS.excerptCharsMax);
  return `Your answer does not fit the output schema of this task:\n${list}\nAnswer again with one JSON value that fits it, and no other text. The schema: ${excerpt}`;
}

async function runCompletionGate(
  input: AcceptAnswerInput,
  options: AcceptAnswerOptions,
  structured: JsonValue | undefined,
): Promise<CompletionDecision> {
  const { secrets = NO_SECRETS } = options;
  const gate = options.completionGates.get(input.agent);
  if (!gate) return refused(`the agent ${input.agent} has no completion gate on this worker`);
  const context = Context.current();
  const timeoutMs = options.gateTimeoutMs ?? HOOK_LIMITS.timeoutMsDefault;
  const messages = await readTranscript(input, { ...options.transcripts, signal: context.cancellationSignal });
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([context.cancellationSignal, timeout]);
  const { runId, agent, turn, text: output, workspace } = input;
  const answer = {
    runId,
    agent,
    turn,
    output,
    signal,
    ...(structured === undefined ? {} : { structured: structuredClone(structured) }),
    ...(workspace === undefined ? {} : { workspace }),
    messages: structuredClone(messages),
  };
  try {
    return readDecision(await Promise.race([gate(answer), rejectedBy(signal)]), secrets);
  } catch (error) {
    throwIfStopped('the completion gate');
    return refused(timeout.aborted ? `it took longer than ${timeoutMs} ms` : redact(messageOf(error, secrets)));
  }
}

function readDecision(value: unknown, secrets: SecretMask): CompletionDecision {
  const decision = CompletionDecision.safeParse(value);
  if (!decision.success) return refused('it returned neither { accept: true } nor { accept: false, correction }');
  if (decision.data.accept) return decision.data;
  return { accept: false, correction: cutText(secrets.text(decision.data.correction), PAYLOAD_LIMITS.failureMessageBytesMax) };
}

function refused(why: string): CompletionDecision {
  return { accept: false, correction: `Your answer was not accepted, because the completion gate failed: ${why}` };
}
