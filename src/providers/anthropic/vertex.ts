import type { AnthropicVertex } from '@anthropic-ai/vertex-sdk';
import type { ClientOptions } from '@anthropic-ai/vertex-sdk/client';
import type { VertexProvider } from '../../define/provider-definition.js';
import type { AccessOptions } from '../contract/access-options.js';
import { ModelError } from '../contract/model-error.js';
import type { ModelAnswer, ModelProvider, ModelRequest } from '../contract/provider.js';
import { fetchOfCall, guardedCall, guardedFetch } from '../http/guarded-fetch.js';
import { loadPeer } from '../http/optional-peer.js';
import { SDK_OPTIONS } from '../http/sdk-options.js';
import { callAnthropicCloud, cloudKey } from './cloud.js';
import { vertexUrl } from './cloud-url.js';

/** The version of the API whose answers are read here, as Vertex names it; the client puts it into the body. */
const API_VERSION = { 'anthropic-version': 'vertex-2023-10-16' };

/**
 * A provider for Claude on Google Vertex AI. Its token is the one that the config refers to, read for each request, else what the
 * application default credentials of the host give. Throws `Model.BadRequest` for a bad region or address.
 */
export function createAnthropicVertexProvider(definition: VertexProvider, access: Pick<AccessOptions, 'keys'>): ModelProvider {
  const vertexClient = new VertexClient(definition, access);
  return { call: (request) => vertexClient.call(request) };
}

class VertexClient {
  readonly #definition: VertexProvider;
  readonly #keys: AccessOptions['keys'];
  readonly #baseUrl: string;
  /** One for all calls: it keeps a token that it was given until that expires. */
  #client: Promise<AnthropicVertex> | undefined;

  constructor(definition: VertexProvider, { keys }: Pick<AccessOptions, 'keys'>) {
    this.#definition = definition;
    this.#keys = keys;
    this.#baseUrl = vertexUrl(definition);
  }

  async call(request: ModelRequest): Promise<ModelAnswer> {
    const token = this.#token();
    this.#client ??= this.#makeClient();
    const client = await this.#client;
    const { idleMs, firstByteMs } = request;
    const guard = guardedFetch({ idleMs, firstByteMs, apiKey: '' });
    const account = [this.#baseUrl, this.#definition.projectId];
    try {
      return await guardedCall(guard, () =>
        callAnthropicCloud(request, { client, guard, account, secrets: token === undefined ? [] : [token] }),
      );
    } catch (error) {
      // credentials that are not there now may be by the next call
      if (error instanceof ModelError && error.type === 'Model.Auth') this.#client = undefined;
      throw error;
    }
  }

  #token(): string | undefined {
    const { accessToken } = this.#definition;
    return accessToken === undefined ? undefined : cloudKey(accessToken, this.#keys);
  }

  async #makeClient(): Promise<AnthropicVertex> {
    const { AnthropicVertex: Client } = await loadPeer('@anthropic-ai/vertex-sdk', () => import('@anthropic-ai/vertex-sdk'));
    const { region, projectId, accessToken } = this.#definition;
    return new Client({
      region,
      projectId,
      baseURL: this.#baseUrl,
      defaultHeaders: API_VERSION,
      ...(accessToken === undefined ? {} : { authClient: this.#authClient() }),
      ...SDK_OPTIONS,
      fetch: fetchOfCall,
      openTelemetry: false,
    });
  }

  #authClient(): NonNullable<ClientOptions['authClient']> {
    const getRequestHeaders = async (): Promise<Headers> => new Headers({ authorization: `Bearer ${this.#token()}` });
    // this is all that the client asks of it
    return { getRequestHeaders } as NonNullable<ClientOptions['authClient']>;
  }
}
