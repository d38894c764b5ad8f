import { z } from 'zod';
import { DECISION_LIMITS, HOOK_LIMITS } from '../../contracts/constants/limits.js';
import { cutMiddle, redact } from '../../contracts/text/redact.js';
import type { SecretMask } from '../../contracts/text/secret-mask.js';
import type { GateAnswer, GateContext, GateFunction } from '../../define/agent-gate.js';
import { rejectedBy } from '../../providers/http/abortable.js';

const Reason = z.string();

const Answer = z.discriminatedUnion('action', [
  z.object({ action: z.literal('allow') }),
  z.object({ action: z.literal('block'), reason: Reason.catch('no reason given') }),
  z.object({ action: z.literal('ask'), reason: Reason.optional() }),
]);

/** One call of a gate function. */
export interface GateQuestion {
  readonly gate: GateFunction;
  readonly context: GateContext;
  readonly tool: Parameters<GateFunction>[1];
  /** @default 10 s */
  readonly timeoutMs?: number;
  readonly secrets: SecretMask;
}

/** Calls a gate function for one tool call. Never throws: a gate that throws, times out or returns an invalid decision blocks. */
export async function askGate({
  gate,
  context,
  tool,
  secrets,
  timeoutMs = HOOK_LIMITS.timeoutMsDefault,
}: GateQuestion): Promise<GateAnswer> {
  const shown = (reason: string): string => cutMiddle(secrets.text(reason), DECISION_LIMITS.reasonCharsMax);
  const failed = (why: string): GateAnswer => ({ action: 'block', reason: shown(`the gate failed: ${why}`) });
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([context.signal, timeout]);
  try {
    const answer = await Promise.race([
      answerOf(gate, { ...context, args: structuredClone(context.args), signal }, tool),
      rejectedBy(signal),
    ]);
    const parsed = Answer.safeParse(answer);
    if (!parsed.success) return failed('it returned neither { action: "allow" }, { action: "block", reason } nor { action: "ask" }');
    const { data } = parsed;
    if (data.action === 'allow') return data;
    if (data.action === 'block') return { action: 'block', reason: shown(data.reason) };
    return { action: 'ask', ...(data.reason === undefined ? {} : { reason: shown(data.reason) }) };
  } catch (error) {
    return failed(timeout.aborted ? `it took longer than ${timeoutMs} ms` : redact(error instanceof Error ? error.message : String(error)));
  }
}

/** Asynchronous, so that a synchronous throw becomes a rejection. */
async function answerOf(gate: GateFunction, context: GateContext, tool: GateQuestion['tool']): Promise<unknown> {
  return await gate(context, tool);
}
