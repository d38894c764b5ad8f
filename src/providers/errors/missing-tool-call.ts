import type { Part } from '../../contracts/schemas/message.js';
import { ModelError, type ModelErrorDetails } from '../contract/model-error.js';

/**
 * For an answer of which its server says that it ends in a call. Throws `Model.BadResponse` when neither a call nor a text is in it: the
 * call was lost on its way, and may come when the same is asked again. A text is an answer by itself: there are servers that say so of
 * every answer (https://github.com/mudler/LocalAI/issues/6218).
 */
export function refuseLostCall(parts: readonly Part[], details: Pick<ModelErrorDetails, 'requestId'>): void {
  const isAnswer = parts.some((part) => part.type === 'tool_call' || (part.type === 'text' && part.text.trim() !== ''));
  if (!isAnswer) throw new ModelError('Model.BadResponse', 'the answer ends in a call that is not in it', details);
}
