import { NO_USAGE } from '../../contracts/models/usage.js';
import type { StubExecutor } from '../../define/agent-executor.js';
import type { ModelProvider } from '../contract/provider.js';

/**
 * Makes the provider of an agent that gives the same answer to every request. It calls no tool and reports no usage, so it costs
 * nothing. Use it to test what surrounds an agent.
 */
export function createStubProvider({ answer }: StubExecutor): ModelProvider {
  return {
    async call({ signal, onDelta }) {
      signal.throwIfAborted();
      onDelta({ type: 'text', text: answer });
      return { parts: [{ type: 'text', text: answer }], stop: 'end', usage: NO_USAGE };
    },
  };
}
