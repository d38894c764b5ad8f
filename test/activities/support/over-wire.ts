import { z } from 'zod';
import { type AnyToolDefinition, defineTool } from '../../../src/define/define-tool.js';
import { createAnthropicProvider } from '../../../src/providers/anthropic/anthropic.js';
import type { ModelProvider } from '../../../src/providers/contract/provider.js';
import { createOpenAiChatProvider } from '../../../src/providers/openai/chat/chat.js';
import { createOpenAiResponsesProvider } from '../../../src/providers/openai/responses/responses.js';
import { type WireServer, type WireServerOptions } from '../../../src/testing/wire-server.js';
import { useModels } from '../../e2e/support/use-models.js';
import type { AgentWorker, AgentWorkerOptions } from '../../support/agent-worker.js';
import { useWorkers } from '../../support/use-workers.js';

/** Each wire format with the provider that speaks it. */
export const WIRE_FORMATS = [
  { format: 'openai-chat', providerOf: ({ openaiBaseUrl: baseUrl, apiKey }: WireServer) => createOpenAiChatProvider({ baseUrl, apiKey }) },
  {
    format: 'openai-responses',
    providerOf: ({ openaiBaseUrl: baseUrl, apiKey }: WireServer) => createOpenAiResponsesProvider({ baseUrl, apiKey }),
  },
  { format: 'anthropic', providerOf: ({ anthropicBaseUrl: baseUrl, apiKey }: WireServer) => createAnthropicProvider({ baseUrl, apiKey }) },
] as const;

/** Workers of one test file whose model is a server that refuses what the real ones refuse; all are gone after each test. */
export function overWire({ format, providerOf }: (typeof WIRE_FORMATS)[number]) {
  const { worker, start } = useWorkers();
  const model = useModels();
  return {
    start,
    over: async (
      script: WireServerOptions,
      tools: readonly AnyToolDefinition[],
      options: Partial<AgentWorkerOptions> = {},
    ): Promise<{ on: AgentWorker; server: WireServer }> => {
      const server = await model({ ...script, formats: [format] });
      const provider: ModelProvider = providerOf(server);
      return { on: await worker({ ...options, model: (request) => provider.call(request), tools }), server };
    },
  };
}

/** A `read` tool that says which paths it was called with. */
export function readTool(ran: string[]): AnyToolDefinition {
  return defineTool({
    name: 'read',
    description: 'Reads.',
    parameters: z.strictObject({ path: z.string() }),
    effect: 'read',
    execute({ path }) {
      ran.push(path);
      return `read ${path}`;
    },
  });
}
