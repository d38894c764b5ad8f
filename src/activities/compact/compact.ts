import { CancelledFailure, Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { CompactInput, CompactResult, HeartbeatDetails } from '../../contracts/activities.js';
import { COMPACTION_LIMITS, TOOL_LIMITS } from '../../contracts/constants/limits.js';
import { hashJson } from '../../contracts/digest.js';
import { addUsage, NO_USAGE } from '../../contracts/models/usage.js';
import type { Message } from '../../contracts/schemas/message.js';
import type { Usage } from '../../contracts/schemas/model.js';
import { CHARS_PER_TOKEN } from '../../contracts/text/estimate-tokens.js';
import { identifiersOf } from '../../contracts/text/identifiers.js';
import { NO_SECRETS, type SecretMask } from '../../contracts/text/secret-mask.js';
import type { CustomCompactor } from '../../define/agent/compactor.js';
import type { ProviderFor } from '../../providers/access/provider-for.js';
import { ModelError } from '../../providers/contract/model-error.js';
import { ModelHooks } from '../call-model/model-hooks.js';
import type { HookRunner } from '../hooks/hook-runner.js';
import type { LeavePlace, LedgerPlace, ProviderGates } from '../limits/provider-gate.js';
import { withinTime } from '../runtime/call-signal.js';
import { attemptSignal, cancellationCause, throwUnlessUser } from '../runtime/cancellation.js';
import { failure, messageOf } from '../runtime/failures.js';
import { withHeartbeat } from '../runtime/heartbeat.js';
import { maskMessage } from '../runtime/mask-message.js';
import { hashMessage } from '../transcript/message-hash.js';
import { type ReadTranscriptOptions, readTranscript } from '../transcript/read-transcript.js';
import { runCustomCompactor } from './custom-compactor.js';
import { extractiveSummary } from './extractive-summary.js';
import { requestSummary } from './request-summary.js';

/** The dependencies of the activity. */
export interface CompactOptions {
  readonly transcripts: Pick<ReadTranscriptOptions, 'cache' | 'query'>;
  readonly providerFor: ProviderFor;
  /** The hooks around the model also run for summary requests. */
  readonly hooks: HookRunner;
  /** The config's compactor, for the strategy `custom`. */
  readonly compactor?: CustomCompactor;
  /** The time limit of a model or the config's compactor, in milliseconds. @default 60 s */
  readonly timeoutMs?: number;
  /** The places at providers with limits. @default none has limits */
  readonly places?: ProviderGates;
  /** Masked in what models and compactors write. @default none */
  readonly secrets?: SecretMask;
}

/**
 * Makes the activity `compact`, which replaces a range of the transcript by a model's summary or the messages of the config's compactor.
 * When the model fails, times out or is blocked by a hook, strategy `summary` falls back to extracts. Throws `Compaction.Failed` when the
 * config's compactor fails. A cancel ends it as cancelled.
 */
export function createCompact(options: CompactOptions): (input: CompactInput) => Promise<CompactResult> {
  return (input) => {
    const startedAt = Date.now();
    const spent: Spent = { usage: NO_USAGE };
    const beat: Beat = () => ({ phase: `compacting: ${input.strategy}`, elapsedMs: Date.now() - startedAt, ...spent });
    return withHeartbeat('compact', beat, () => compact(input, options, { spent, beat }));
  };
}

/** The usage of the answers so far. It is charged whatever the outcome. */
interface Spent {
  usage: Usage;
}

/** The heartbeat details: for operators, and for the usage of a lost attempt. */
type Beat = () => HeartbeatDetails & Spent;

async function compact(
  input: CompactInput,
  options: CompactOptions,
  { spent, beat }: { readonly spent: Spent; readonly beat: Beat },
): Promise<CompactResult> {
  const context = Context.current();
  const signal = withinTime([attemptSignal(context)], workMs(context, options));
  try {
    const messages = (await readTranscript(input, { ...options.transcripts, signal })).slice(input.from, input.to);
    if (messages.length === 0) throw failure('Compaction.Failed', `there are no messages ${input.from} to ${input.to} to compact`);
    const work = { input, options, messages, signal, spent };
    const { made, ...rest } = input.strategy === 'custom' ? await compactByConfig(work) : await compactBySummary(work);
    return { messages: made.map((message) => keep(message, options)), usage: spent.usage, ...rest };
  } catch (error) {
    const cause = cancellationCause(context);
    throwUnlessUser(cause, 'a compaction', beat());
    if (cause === 'user') throw new CancelledFailure('the compaction was cancelled', [beat()]);
    throw error instanceof ApplicationFailure ? error : failure('Compaction.Failed', messageOf(error, options.secrets), { cause: error });
  }
}

interface Work {
  readonly input: CompactInput;
  readonly options: CompactOptions;
  readonly messages: readonly Message[];
  readonly signal: AbortSignal;
  readonly spent: Spent;
}

type Made = Pick<CompactResult, 'note'> & { readonly made: readonly Message[] };

async function compactByConfig({ input, options, messages, signal }: Work): Promise<Made> {
  if (!options.compactor) throw failure('Compaction.Failed', 'strategy custom needs a compactor in the config of this worker');
  const made = await runCustomCompactor(options.compactor, { messages, tokensMax: input.tokensMax, runId: input.runId, signal });
  return { made };
}

async function compactBySummary({ input, options, messages, signal, spent }: Work): Promise<Made> {
  const { tokensMax } = input;
  const { secrets = NO_SECRETS } = options;
  let leave: LeavePlace | undefined;
  try {
    const { provider, model } = options.providerFor(input.model, input.credential);
    const context = Context.current();
    const at = (): LedgerPlace => ({ client: context.client, taskQueue: context.info.taskQueue });
    leave = await options.places?.enter(input.model, { at, signal });
    const onUsage = (used: Usage): void => {
      spent.usage = addUsage(spent.usage, used);
    };
    const hooks = new ModelHooks(options.hooks, input);
    const summary = await requestSummary({ provider, model, agent: input.agent ?? '', messages, tokensMax, signal, hooks, onUsage });
    // masked before it is cut to its size
    return { made: [summaryMessage(input, messages, secrets.text(summary))] };
  } catch (error) {
    if (cancellationCause() !== 'none') throw error;
    const made = [summaryMessage(input, messages, extractiveSummary(messages, tokensMax))];
    return { made, note: `extractive: ${whyNoModel(error, signal, secrets)}` };
  } finally {
    leave?.();
  }
}

/** Makes the summary message. Identifiers that are missing in the summary are appended where the size allows it. */
function summaryMessage(input: CompactInput, messages: readonly Message[], summary: string): Message {
  const charsMax = input.tokensMax * CHARS_PER_TOKEN;
  const title = `[summary of ${messages.length} earlier messages]\n`;
  const text = summary.slice(0, Math.max(0, charsMax - title.length));
  const missing = newestIdentifiers(messages).filter((name) => !text.includes(name));
  const named = `\n\nAlso named: ${missing.join(', ')}`;
  const isWhole = missing.length > 0 && title.length + text.length + named.length <= charsMax;
  return {
    // unique for this compaction, and equal for all its attempts
    id: `summary_${hashJson([input.executionId, input.digest, input.from, input.to]).slice(0, 12)}`,
    role: 'user',
    origin: 'summary',
    turn: input.turn,
    parts: [{ type: 'text', text: `${title}${text}${isWhole ? named : ''}`.toWellFormed() }],
  };
}

/** The newest identifiers in texts, calls and results. */
function newestIdentifiers(messages: readonly Message[]): string[] {
  const names = new Set<string>();
  for (const name of messages.flatMap(({ parts }) => identifiersOf(parts))) {
    names.delete(name);
    names.add(name);
  }
  return [...names].slice(-COMPACTION_LIMITS.identifiersKept);
}

function keep(made: Message, { transcripts, secrets = NO_SECRETS }: CompactOptions): CompactResult['messages'][number] {
  const message = maskMessage(made, secrets);
  const hash = hashMessage(message);
  transcripts.cache.keepMessage(hash, message);
  return { message, hash };
}

function whyNoModel(error: unknown, signal: AbortSignal, secrets: SecretMask): string {
  if (signal.aborted) return 'the model took too long';
  const message = messageOf(error, secrets).slice(0, 200);
  return error instanceof ModelError ? `${error.type}: ${message}` : message;
}

/** The time limit of the work. It is below the activity's own timeout, so that the extracts can still be returned. */
function workMs(context: Context, { timeoutMs = COMPACTION_LIMITS.summaryTimeoutMs }: CompactOptions): number {
  return Math.max(1, Math.min(timeoutMs, context.info.startToCloseTimeoutMs - TOOL_LIMITS.timeoutMarginMs));
}
