import { z } from 'zod';
import { DECISION_LIMITS, HOOK_LIMITS } from '../../contracts/constants/limits.js';
import { cutText, redact } from '../../contracts/text/redact.js';
import type { GateAnswer, GateContext, GateFunction } from '../../define/agent-gate.js';
import { rejectedBy } from '../../providers/http/abortable.js';

const Reason = z.string().transform((reason) => cutText(reason, DECISION_LIMITS.reasonCharsMax));

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
}

/** Calls a gate function for one tool call. Never throws: a gate that throws, times out or returns an invalid decision blocks. */
export async function askGate({ gate, context, tool, timeoutMs = HOOK_LIMITS.timeoutMsDefault }: GateQuestion): Promise<GateAnswer> {
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
    return data.action === 'ask' ? { action: 'ask', ...(data.reason === undefined ? {} : { reason: data.reason }) } : data;
  } catch (error) {
    return failed(timeout.aborted ? `it took longer than ${timeoutMs} ms` : redact(error instanceof Error ? error.message : String(error)));
  }
}

function failed(why: string): GateAnswer {
  return { action: 'block', reason: cutText(`the gate failed: ${why}`, DECISION_LIMITS.reasonCharsMax) };
}

/** Asynchronous, so that a synchronous throw becomes a rejection. */
async function answerOf(gate: GateFunction, context: GateContext, tool: GateQuestion['tool']): Promise<unknown> {
  return await gate(context, tool);
}
