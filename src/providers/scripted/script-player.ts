import { hashJson } from '../../contracts/digest.js';
import { NO_USAGE } from '../../contracts/models/usage.js';
import type { JsonValue } from '../../contracts/schemas/message.js';
import type { StopReason, Usage } from '../../contracts/schemas/model.js';
import { type Script, type ScriptExpectation, ScriptStep, type ScriptToolCall } from './script.js';
import type { ScriptFault, WireFault } from './script-fault.js';

/** What a script sees of a request, in whatever format it came. */
export interface ScriptedRequest {
  /** Names the conversation; faults are counted by it. */
  readonly conversation: string;
  /** Assistant messages in the request: how many steps were answered already. */
  readonly answered: number;
  readonly lastUser: string;
  readonly lastToolResult: string;
  readonly tools: readonly string[];
  /** The request forbids tool calls: it is the reserved final call. */
  readonly final: boolean;
  /** The request's size, for an estimate of its tokens; asked only when a step does not say them. */
  readonly inputChars: () => number;
}

/** Which step answered: its index in `steps`, or the name of the one outside them. */
export type StepName = number | 'final' | 'whenEnded';

/** A complete answer of a script, with all templates filled. */
export interface ScriptedAnswer {
  readonly text: string;
  readonly thinking: string;
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly argsText: string }[];
  readonly stop: StopReason;
  readonly usage?: Usage;
  readonly chunkChars?: number;
}

/** What a script does with a request. */
export type ScriptedReply =
  | { readonly kind: 'refused'; readonly problem: string }
  | {
      readonly kind: 'answer';
      readonly step: StepName;
      readonly answer: ScriptedAnswer;
      readonly delayMs: number;
      readonly chunkDelayMs: number;
      /** Comes in place of the answer, or in the midst of it. */
      readonly fault?: WireFault;
    };

const DEFAULT_FINAL = ScriptStep.parse({ text: 'The script gives no final answer.' });

/**
 * Plays a script. The step is chosen from the request alone, so that it survives retries and the death of the process; only faults
 * already played are remembered, by conversation and step, in this process.
 */
export class ScriptPlayer {
  readonly #script: Script;
  readonly #faultsPlayed = new Map<string, number>();

  constructor(script: Script) {
    this.#script = script;
  }

  /** Chooses the step and the fault that is due. Never throws. */
  play(request: ScriptedRequest): ScriptedReply {
    const chosen = chooseStep(this.#script, request);
    if (!chosen)
      return { kind: 'refused', problem: `the script has ${this.#script.steps.length} steps; this is request ${request.answered + 1}` };
    const { name, step } = chosen;
    const missing = missingIn(request, step.expect);
    if (missing) return { kind: 'refused', problem: `step ${name} of the script expects ${missing}` };
    const fault = this.#nextFault(`${request.conversation}/${request.answered}/${name}`, step);
    return {
      kind: 'answer',
      step: name,
      delayMs: step.delayMs,
      chunkDelayMs: step.chunkDelayMs,
      ...answerWith(fault, step, request),
    };
  }

  #nextFault(key: string, step: ScriptStep): ScriptFault | undefined {
    const played = this.#faultsPlayed.get(key) ?? 0;
    let upTo = 0;
    for (const fault of step.fault ? [step.fault, ...step.faults] : step.faults) {
      upTo += fault.times;
      if (played >= upTo) continue;
      this.#faultsPlayed.set(key, played + 1);
      return fault;
    }
    return undefined;
  }
}

/** The name under which faults of a conversation are counted. */
export function conversationName(prompt: string, firstMessage: unknown): string {
  return hashJson([prompt, firstMessage]).slice(0, 16);
}

function chooseStep(
  script: Script,
  { answered, final }: ScriptedRequest,
): { readonly name: StepName; readonly step: ScriptStep } | undefined {
  if (final) return { name: 'final', step: script.final ?? DEFAULT_FINAL };
  const index = script.loop ? answered % script.steps.length : answered;
  const step = script.steps[index];
  if (step) return { name: index, step };
  return script.whenEnded && { name: 'whenEnded', step: script.whenEnded };
}

function missingIn(request: ScriptedRequest, expect: ScriptExpectation): string | undefined {
  if (!request.lastUser.includes(expect.lastUser ?? '')) return `the last user message to contain ${JSON.stringify(expect.lastUser)}`;
  if (!request.lastToolResult.includes(expect.lastToolResult ?? '')) {
    return `the last tool result to contain ${JSON.stringify(expect.lastToolResult)}`;
  }
  const absent = expect.tools?.filter((tool) => !request.tools.includes(tool)) ?? [];
  return absent.length > 0 ? `these tools: ${absent.join(', ')}` : undefined;
}

/** What the step answers beside its fault; a model that only thinks is an answer of its own. */
function answerWith(
  fault: ScriptFault | undefined,
  step: ScriptStep,
  request: ScriptedRequest,
): { readonly answer: ScriptedAnswer; readonly fault?: WireFault } {
  if (!fault) return { answer: answerOf(step, request) };
  if (!('thinkTokens' in fault)) return { answer: answerOf(step, request), fault };
  const { usage, chunkChars } = step;
  return { answer: answerOf(ScriptStep.parse({ thinking: THOUGHT.repeat(fault.thinkTokens), usage, chunkChars }), request) };
}

/** Four characters: one token of an estimate. */
const THOUGHT = 'hmm ';

function answerOf(step: ScriptStep, request: ScriptedRequest): ScriptedAnswer {
  const text = fill(step.text ?? '', request);
  const thinking = fill(step.thinking ?? '', request);
  const toolCalls = step.toolCalls.map((call, index) => ({
    id: call.id ?? `call_${request.answered}_${index}`,
    name: call.name,
    argsText: argsTextOf(call, request),
  }));
  const outputChars = [text, thinking, ...toolCalls.map((call) => call.name + call.argsText)].join('').length;
  const usage = usageOf(step, { input: request.inputChars, thinking: thinking.length, output: outputChars });
  return {
    text,
    thinking,
    toolCalls,
    stop: step.stop ?? (toolCalls.length > 0 ? 'tool_calls' : 'end'),
    ...(usage ? { usage } : {}),
    ...(step.chunkChars === undefined ? {} : { chunkChars: step.chunkChars }),
  };
}

/** Four characters a token, where the step says nothing. */
function usageOf(
  step: ScriptStep,
  chars: { readonly input: () => number; readonly thinking: number; readonly output: number },
): Usage | undefined {
  if (step.usage === 'none') return undefined;
  return {
    inputTokens: step.usage.inputTokens ?? Math.ceil(chars.input() / 4),
    outputTokens: step.usage.outputTokens ?? Math.ceil(chars.output / 4),
    reasoningTokens: step.usage.reasoningTokens ?? Math.ceil(chars.thinking / 4),
    cacheReadTokens: step.usage.cacheReadTokens ?? NO_USAGE.cacheReadTokens,
    cacheWriteTokens: step.usage.cacheWriteTokens ?? NO_USAGE.cacheWriteTokens,
  };
}

function argsTextOf(call: ScriptToolCall, request: ScriptedRequest): string {
  return call.argsText ?? JSON.stringify(fillJson(call.args, request));
}

function fillJson(value: JsonValue, request: ScriptedRequest): JsonValue {
  if (typeof value === 'string') return fill(value, request);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item) => fillJson(item, request));
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, fillJson(field, request)]));
}

function fill(template: string, request: ScriptedRequest): string {
  return template.replaceAll(/\{\{(lastUser|lastToolResult|turn)\}\}/gu, (_, name: string) => {
    if (name === 'lastUser') return request.lastUser;
    return name === 'turn' ? String(request.answered + 1) : request.lastToolResult;
  });
}
