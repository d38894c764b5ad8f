import { type ModelRef, parseModelRef } from '../../contracts/models/model-ref.js';
import type { StubExecutor, SubprocessExecutor } from '../../define/agent-executor.js';
import { createAiSdkProvider } from '../ai-sdk/ai-sdk.js';
import { createAnthropicProvider } from '../anthropic/anthropic.js';
import { createAnthropicBedrockProvider } from '../anthropic/bedrock.js';
import { createAnthropicVertexProvider } from '../anthropic/vertex.js';
import type { AccessOptions } from '../contract/access-options.js';
import { ModelError } from '../contract/model-error.js';
import type { ModelProvider } from '../contract/provider.js';
import { nameMissedAddress, nameRefusedKey } from '../errors/error-context.js';
import { createStubProvider } from '../executor/stub.js';
import { createSubprocessProvider } from '../executor/subprocess.js';
import { createOpenAiChatProvider } from '../openai/chat/chat.js';
import { createOpenAiCompletionsProvider } from '../openai/completions/completions.js';
import { createOpenAiResponsesProvider } from '../openai/responses/responses.js';
import { createScriptedProvider } from '../scripted/scripted.js';
import { type AccessRequest, type ProviderAccess, providerAccess, type ServerAccess } from './provider-access.js';

/** A provider with the name its model has there. */
export interface ResolvedModel {
  readonly provider: ModelProvider;
  readonly model: string;
}

/** Looks a model up, with one of its provider's keys or the first one. */
export type ProviderFor = (model: string, credential?: string) => ResolvedModel;

/**
 * Makes the look-up from `provider/model` to a provider; each is made once, and anew when its key changed. It throws a ModelError:
 * `Model.Auth` that names the variable of a missing key, `Model.NotFound` for an unknown provider or a bad address: another worker may
 * have had a config with it.
 */
export function createProviderFor(options: AccessOptions): ProviderFor {
  const made = new Map<string, { readonly provider: ModelProvider; readonly apiKey: string | undefined }>();
  return (name, credential) => {
    const ref = parseModelRef(name);
    if (!ref) throw new ModelError('Model.BadRequest', `model ${name}: use provider/model`);
    const asked = { ...ref, credential };
    const access = providerAccess(asked, options);
    const apiKey = access.kind === 'server' ? access.apiKey : undefined;
    const keptName = `${keptAs(name, ref)}\n${credential ?? ''}`;
    const kept = made.get(keptName);
    // a key in a file may have been changed since
    const provider = kept && kept.apiKey === apiKey ? kept.provider : makeProvider(asked, access, options);
    made.set(keptName, { provider, apiKey });
    return { provider, model: ref.model };
  };
}

/** A script, and an agent's executor, is a provider of its own: it remembers where it stands. */
function keptAs(name: string, { provider }: ModelRef): string {
  return provider === 'scripted' || provider === 'subprocess' || provider === 'stub' ? name : provider;
}

function makeProvider(asked: AccessRequest, access: ProviderAccess, options: AccessOptions): ModelProvider {
  switch (access.kind) {
    case 'refused':
      throw new ModelError(access.type, access.problem);
    case 'script':
      return createScriptedProvider({ file: asked.model });
    case 'server':
      return keyedProvider(access, asked);
    case 'bedrock':
      return createAnthropicBedrockProvider(access.definition, options);
    case 'vertex':
      return createAnthropicVertexProvider(access.definition, options);
    case 'ai-sdk':
      return createAiSdkProvider(access.definition, options);
    case 'executor':
      return executorProvider(asked.model, access.executor, options);
  }
}

function executorProvider(agent: string, executor: SubprocessExecutor | StubExecutor, { env, keys }: AccessOptions): ModelProvider {
  return executor.kind === 'stub' ? createStubProvider(executor) : createSubprocessProvider({ agent, executor, env, keys });
}

/** Where no key is asked for, the first one is used. */
function keyedProvider(access: ServerAccess, { credential = access.credentials[0] }: AccessRequest): ModelProvider {
  const server = nameMissedAddress(serverProvider(access), access.baseUrl);
  const provider = access.quirks?.hidesCuts ? doubtful(server) : server;
  return credential === undefined ? provider : nameRefusedKey(provider, credential);
}

function serverProvider(access: ServerAccess): ModelProvider {
  switch (access.api) {
    case 'openai-chat':
      return createOpenAiChatProvider(access);
    case 'anthropic':
      return createAnthropicProvider(access);
    case 'openai-responses':
      return createOpenAiResponsesProvider(access);
    case 'openai-completions':
      return createOpenAiCompletionsProvider(access);
  }
}

/** A provider behind a gateway that may hide that an answer was cut. */
function doubtful(provider: ModelProvider): ModelProvider {
  return { call: async (request) => ({ ...(await provider.call(request)), mayBeCut: true }) };
}
