import { NO_USAGE } from '../../contracts/models/usage.js';
import type { StubExecutor } from '../../define/agent-executor.js';
import type { ModelProvider } from '../contract/provider.js';

/** Makes the provider of an agent that answers every question with the same text, calls nothing and costs nothing. */
export function createStubProvider({ answer }: StubExecutor): ModelProvider {
  return {
    async call({ signal, onDelta }) {
      signal.throwIfAborted();
      onDelta({ type: 'text', text: answer });
      return { parts: [{ type: 'text', text: answer }], stop: 'end', usage: NO_USAGE };
    },
  };
}
