import { workflowInfo } from '@temporalio/workflow';
import { COMPACTION_LIMITS, PAYLOAD_LIMITS, RUN_LIMITS } from '../../contracts/constants/limits.js';
import { NO_USAGE } from '../../contracts/models/usage.js';
import type { Message } from '../../contracts/schemas/message.js';
import type { ModelCandidate } from '../../contracts/schemas/model-route.js';
import type { CompactionStrategy } from '../../contracts/schemas/policy.js';
import { CHARS_PER_TOKEN, estimateTokens } from '../../contracts/text/estimate-tokens.js';
import { showDecision } from '../operator/wait.js';
import { compactionGoal, compactionNeeded, latchedUntil, type RequestFacts } from '../policies/compaction/compaction-trigger.js';
import type { CompactionGoal } from '../policies/compaction/compactor.js';
import { compactorFor } from '../policies/compaction/select-compactor.js';
import { shortenLargestResult } from '../policies/compaction/shorten-result.js';
import { applySummary, planSummary } from '../policies/compaction/summary-plan.js';
import { tieredCompactor } from '../policies/compaction/tiered-compactor.js';
import { keyOf, type ModelPair } from '../policies/model/next-model.js';
import { isPaired } from '../policies/transcript/repair-transcript.js';
import type { Run } from '../state/run.js';
import { usageIn } from '../state/spending.js';
import { readActivityProblem } from '../temporal/failures.js';
import { compact } from '../temporal/proxies.js';
import { lostConversation } from './copy-conversation.js';

/** Why a transcript is compacted. `overflow`: the provider rejected it as too long. `carry`: it is too large for continue-as-new. */
type Why = 'soft' | 'forced' | 'overflow' | 'carry';

/**
 * Compacts the transcript before a request, when an estimate shows that this is needed and worth it. A failed compaction never fails the run.
 * Undefined when there is nothing to wait for, as before most requests.
 *
 * @param target the model of the request. @default the model that the next request is expected to use
 */
export function compactWhenNeeded(run: Run, target?: ModelCandidate): Promise<void> | undefined {
  if (run.policy.compaction.strategies.length === 0) return undefined;
  const need = compactionNeeded({ ...factsOf(run, target), latchedUntil: run.compaction.latchedUntil });
  return need === 'no' ? undefined : compactOrLatch(run, need, target);
}

/** A compaction that made nothing shorter is not repeated until the transcript has grown. */
async function compactOrLatch(run: Run, need: 'soft' | 'forced', target?: ModelCandidate): Promise<void> {
  if (await compactTranscript(run, need, target)) return;
  run.compaction = { ...run.compaction, latchedUntil: latchedUntil(run.transcript.length) };
}

/** Applies the run's strategies in order until the transcript fits. False when none of them made it shorter. */
export async function compactTranscript(run: Run, why: Why, target?: ModelCandidate): Promise<boolean> {
  const goal = compactionGoal(factsOf(run, target), why === 'soft' ? 'soft' : 'forced');
  const { strategies } = run.policy.compaction;
  const { phase } = run;
  run.phase = 'compacting';
  const mustSummarize = strategies.length > 0 && run.transcript.inherits !== undefined;
  let isShorter = mustSummarize ? await summarizeInherited(run, { goal, why }) : false;
  for (const strategy of strategies) {
    if (run.mustStop || (isShorter && fits(run, goal))) break;
    isShorter = (await useStrategy(run, { strategy, goal, why })) || isShorter;
  }
  const failed = strategies.length > 0 && !isShorter && !run.mustStop;
  // strategies that need an activity may fail: the last resort needs none
  if (failed) isShorter = adopt(run, { strategy: 'tiered', why, messages: tieredCompactor(run.transcript.messages, goal) });
  run.phase = phase;
  return isShorter;
}

/** The second recovery from an overflow: cuts the largest tool result. False when no result is large enough. */
export function shortenLargest(run: Run): boolean {
  const shortened = shortenLargestResult(run.transcript.messages);
  return shortened !== undefined && adopt(run, { strategy: 'shorten', why: 'overflow', messages: shortened.messages });
}

/** Compacts a transcript that is too large for continue-as-new, whatever the policy. */
export function compactToCarry(run: Run, bytesMax: number = PAYLOAD_LIMITS.transcriptBytesMax): void {
  const { transcript, taskId } = run;
  if (transcript.bytes <= bytesMax) return;
  const goal = { tokensMax: Math.floor(bytesMax / CHARS_PER_TOKEN / 2), keepRecentTokens: 0, taskId };
  adopt(run, { strategy: 'tiered', why: 'carry', messages: tieredCompactor(transcript.messages, goal) });
}

function factsOf(
  { transcript, route, policy, compaction, taskId, agent }: Run,
  target: ModelCandidate = route.expected(Date.now()).candidate,
): RequestFacts {
  return {
    messages: transcript.messages,
    messageTokens: transcript.tokens,
    ...(transcript.inherits ? { inheritedTokens: transcript.inherits.tokens } : {}),
    setupTokens: agent.setupTokens,
    window: target.contextWindow,
    taskId,
    policy: policy.compaction,
    compactions: compaction.count,
    ...(compaction.reported ? { reported: compaction.reported } : {}),
  };
}

function fits({ transcript }: Run, { tokensMax }: CompactionGoal): boolean {
  return transcript.tokens <= tokensMax;
}

interface Pass {
  readonly strategy: CompactionStrategy;
  readonly goal: CompactionGoal;
  readonly why: Why;
}

async function useStrategy(run: Run, { strategy, goal, why }: Pass): Promise<boolean> {
  const own = compactorFor(strategy);
  if (own) return adopt(run, { strategy, why, messages: own(run.transcript.messages, goal) });
  return await compactByActivity(run, { strategy, goal, why });
}

/** Replaces older messages by the output of activity `compact`: a summary, or the messages of the config's compactor. */
async function compactByActivity(run: Run, { strategy, goal, why }: Pass): Promise<boolean> {
  const { messages } = run.transcript;
  const plan = planSummary(messages, goal);
  if (!plan) return false;
  const before = run.transcript.inherits?.length ?? 0;
  const made = await requestCompact(run, { strategy, goal, from: before + plan.from, to: before + plan.to });
  if (!('returned' in made)) return false;
  const { returned, note } = made;
  return adopt(run, { strategy, why, messages: applySummary(messages, plan, [...returned.keys()]), returned, note });
}

/**
 * Replaces the inherited conversation of a session, as one block, by a summary: the workflow does not have its messages, so no other strategy
 * can shorten them. False without one. A conversation that the server no longer has is replaced by a note.
 */
async function summarizeInherited(run: Run, { goal, why }: Omit<Pass, 'strategy'>): Promise<boolean> {
  const { inherits, tokens: tokensBefore, head } = run.transcript;
  if (!inherits || run.mustStop) return false;
  const made = await requestCompact(run, { strategy: 'summary', goal, from: 0, to: inherits.length });
  if (!('returned' in made) && !made.problem.startsWith('Transcript.')) return false;
  const returned = 'returned' in made ? made.returned : new Map<Message, string>();
  const messages = 'returned' in made ? [...returned.keys()] : [lostConversation(run, inherits.length)];
  run.transcript.replaceInherited(messages, returned);
  const sizes = {
    messagesBefore: head.length,
    messagesAfter: run.transcript.length,
    tokensBefore,
    tokensAfter: run.transcript.tokens,
  };
  recordCompaction(run, { strategy: 'summary', why, sizes, note: 'returned' in made ? made.note : 'the earlier runs are not available' });
  return true;
}

/** The messages that activity `compact` made, with their hashes; or the failure type, when it failed. */
type Requested = { readonly returned: ReadonlyMap<Message, string>; readonly note: string | undefined } | { readonly problem: string };

/** Asks activity `compact` to replace a range of the whole transcript, and charges what it used. */
async function requestCompact(run: Run, order: Omit<CompactOrder, 'writer'>): Promise<Requested> {
  const { heartbeatTimeoutMs } = run.prepared;
  const { strategy } = order;
  for (let losses = 0; ; losses += 1) {
    const writer = summaryWriter(run);
    try {
      const summary = `turn ${run.counters.turn}: compact the transcript (${strategy})`;
      const made = await run.calls.abortable(() => compact(inputFor(run, { ...order, writer }), { summary, heartbeatTimeoutMs }));
      // runs prepared by older versions charge the model that is expected at this moment
      run.spending.charge(made.usage, run.policy.weighsFallbacks ? writer : summaryWriter(run));
      return { returned: new Map(made.messages.map(({ message, hash }) => [message, hash])), note: made.note };
    } catch (error) {
      const problem = readActivityProblem(error);
      const lost = usageIn(problem.lastHeartbeat) ?? NO_USAGE;
      if (lost.inputTokens + lost.outputTokens > 0) run.spending.charge(lost, writer);
      if (problem.workerLost && !run.mustStop && losses < RUN_LIMITS.workerLossesMax) continue;
      run.compaction = { ...run.compaction, failures: run.compaction.failures + 1 };
      const message = `${problem.type}: ${problem.message}`.slice(0, 500);
      run.events.add({ type: 'compaction.failed', turn: run.counters.turn, strategy, message });
      return { problem: problem.type };
    }
  }
}

/** The input of activity `compact`, before it is completed. */
interface CompactOrder extends Pick<Pass, 'strategy' | 'goal'> {
  /** Positions in the whole transcript, `to` exclusive. */
  readonly from: number;
  readonly to: number;
  readonly writer: SummaryWriter;
}

function inputFor(run: Run, { strategy, from, to, goal, writer: { model, credential } }: CompactOrder): Parameters<typeof compact>[0] {
  const { prepared, counters } = run;
  return {
    runId: run.runId,
    executionId: workflowInfo().runId,
    ...run.transcript.reference(),
    agent: prepared.setup.agent,
    turn: counters.turn,
    strategy: strategy === 'custom' ? 'custom' : 'summary',
    model,
    ...(credential === undefined ? {} : { credential }),
    setupHash: prepared.setupHash,
    from,
    to,
    tokensMax: Math.max(COMPACTION_LIMITS.summaryOutputTokens, Math.floor(goal.tokensMax / 4)),
  };
}

/** A model with its price, and the key to use where its provider has several. */
type SummaryWriter = Pick<ModelCandidate, 'model' | 'price'> & Pick<ModelPair, 'credential'>;

/** The model that writes summaries: the policy's `summaryModel`, else the one that is expected next. */
function summaryWriter({ policy, prepared, route }: Run): SummaryWriter {
  const { summaryModel: own } = policy.compaction;
  if (own !== undefined) return { model: own, ...(prepared.summaryPrice ? { price: prepared.summaryPrice } : {}) };
  const next = route.expected(Date.now());
  return { ...next.candidate, ...keyOf(next) };
}

interface Adopted {
  readonly strategy: string;
  readonly why: Why;
  readonly messages: readonly Message[];
  readonly returned?: ReadonlyMap<Message, string>;
  readonly note?: string | undefined;
}

/** Adopts the shorter transcript. False for one that is not shorter, or that separates a call from its result. */
function adopt(run: Run, { strategy, why, messages, returned, note }: Adopted): boolean {
  const before = run.transcript.messages;
  if (messages === before) return false;
  const tokensBefore = run.transcript.tokens;
  const tokensAfter = (run.transcript.inherits?.tokens ?? 0) + estimateTokens(messages);
  // the calls of an unfinished turn have no results yet
  const answered = run.turnInProgress ? messages.slice(0, -1) : messages;
  if (tokensAfter >= tokensBefore || !isPaired(answered)) return false;
  run.transcript.replaceAll(messages, returned);
  const sizes = { messagesBefore: before.length, messagesAfter: messages.length, tokensBefore, tokensAfter };
  recordCompaction(run, { strategy, why, sizes, note });
  return true;
}

/** A compaction that took place. */
interface Compacted extends Pick<Adopted, 'strategy' | 'why' | 'note'> {
  readonly sizes: {
    readonly messagesBefore: number;
    readonly messagesAfter: number;
    readonly tokensBefore: number;
    readonly tokensAfter: number;
  };
}

function recordCompaction(run: Run, { strategy, why, sizes, note }: Compacted): void {
  // the memo refers to results that may be shortened now
  run.memo.clear();
  run.compaction = { ...run.compaction, count: run.compaction.count + 1, latchedUntil: 0 };
  run.events.add({ type: 'compacted', turn: run.counters.turn, strategy, why, ...sizes, ...(note === undefined ? {} : { note }) });
  const { tokensBefore, tokensAfter } = sizes;
  showDecision(run, `turn ${run.counters.turn}: compacted (${strategy}, ${why}): ${tokensBefore} → ${tokensAfter} tokens`);
}
