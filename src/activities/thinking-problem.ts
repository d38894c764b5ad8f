import type { ThinkingSetting } from '../contracts/thinking.js';
import type { ModelFacts } from '../define/model-options.js';
import { modelFacts } from '../models/model-facts.js';
import { thinkingOrder } from '../models/thinking-request.js';

/**
 * Why a model cannot think as much as it is asked to: with the levels it has, and with who else has the one that was asked for, where
 * that is the same model. Undefined when it can. Never throws.
 */
export function thinkingProblem(setting: ThinkingSetting, model: string, facts: ModelFacts): string | undefined {
  const order = thinkingOrder(setting, facts);
  if (!('problem' in order)) return undefined;
  const elsewhere = overResponses(model);
  const hasIt = elsewhere !== undefined && modelFacts(elsewhere).thinkingLevels?.some((level) => level === setting);
  return hasIt ? `${order.problem}; ${elsewhere} has it` : order.problem;
}

/** OpenAI's newer models think and call tools in one request at one of its two APIs only. */
function overResponses(model: string): string | undefined {
  return model.startsWith('openai/') ? model.replace('openai/', 'openai-responses/') : undefined;
}
