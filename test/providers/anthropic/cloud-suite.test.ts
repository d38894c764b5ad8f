import type { ProviderDefinition } from '../../../src/define/provider-definition.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { createProviderFor } from '../../../src/providers/access/provider-for.js';
import type { ModelProvider } from '../../../src/providers/contract/provider.js';
import { SPARSE_STEP } from '../suite/cut-cases.js';
import type { ScriptedSubject } from '../suite/provider-subject.js';
import { providerSuite } from '../suite/provider-suite.js';
import { startScriptedServer } from '../suite/scripted-server.js';
import { startCloudFront } from '../support/cloud-front.js';

const MODEL = 'anthropic.claude-test-v1:0';

providerSuite('Claude on Bedrock', { start: () => startCloud('bedrock') });

providerSuite('Claude on Vertex', { start: () => startCloud('vertex') });

/** The strict wire server behind a cloud's door, and the provider that a config with the cloud's definition gives a run. */
async function startCloud(cloud: 'bedrock' | 'vertex'): Promise<ScriptedSubject> {
  const server = await startScriptedServer('anthropic');
  const front = await startCloudFront(cloud, server);
  return {
    model: MODEL,
    server,
    thinking: { style: 'budget', tokens: 1_024 },
    // its streams are those of the messages format, read by the same parser
    ...(cloud === 'vertex' ? { cutStep: SPARSE_STEP } : {}),
    provider: (secret = server.apiKey) => cloudProvider(definitionOf(cloud, front.url), secret),
    close: () => front.close(),
  };
}

function definitionOf(cloud: 'bedrock' | 'vertex', baseUrl: string): ProviderDefinition {
  return cloud === 'bedrock'
    ? {
        api: 'anthropic-bedrock',
        region: 'us-east-1',
        baseUrl,
        credentials: { accessKey: 'env:ACCESS_KEY', secretKey: 'env:SECRET', sessionToken: 'env:SESSION' },
      }
    : { api: 'anthropic-vertex', region: 'us-east5', projectId: 'project-1', baseUrl, accessToken: 'env:SECRET' };
}

function cloudProvider(definition: ProviderDefinition, secret: string): ModelProvider {
  const env = { ACCESS_KEY: 'AKIDEXAMPLE', SECRET: secret, SESSION: 'session-token-0123' };
  const keys = captureKeys(env, ['env:ACCESS_KEY', 'env:SECRET', 'env:SESSION']);
  return createProviderFor({ config: { providers: { cloud: definition } }, env: {}, keys })(`cloud/${MODEL}`).provider;
}
