import { afterEach } from 'vitest';
import { startWireServer, type WireServer, type WireServerOptions } from '../../../src/testing/index.js';

/** Models over the real wire; each is gone after its test. */
export function useModels(): (options: WireServerOptions) => Promise<WireServer> {
  const servers: WireServer[] = [];
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });
  return async (options) => {
    const server = await startWireServer(options);
    servers.push(server);
    return server;
  };
}

/** What a command needs to find the model under its providers' names. */
export function modelEnv(model: WireServer): NodeJS.ProcessEnv {
  return {
    OPENAI_API_KEY: model.apiKey,
    OPENAI_BASE_URL: model.openaiBaseUrl,
    ANTHROPIC_API_KEY: model.apiKey,
    ANTHROPIC_BASE_URL: model.anthropicBaseUrl,
  };
}
