import type { BedrockProvider } from '../../define/provider-definition.js';
import type { AccessOptions } from '../contract/access-options.js';
import type { ModelAnswer, ModelProvider, ModelRequest } from '../contract/provider.js';
import { guardedFetch } from '../http/guarded-fetch.js';
import { loadPeer } from '../http/optional-peer.js';
import { SDK_OPTIONS } from '../http/sdk-options.js';
import { callAnthropicCloud, cloudKey } from './cloud.js';
import { bedrockUrl } from './cloud-url.js';

/** The version of the API whose answers are read here, as Bedrock names it; the client puts it into the body. */
const API_VERSION = { 'anthropic-version': 'bedrock-2023-05-31' };

/**
 * A provider for Claude on Amazon Bedrock. Requests are signed with the keys that the config refers to, else with what the credential
 * chain of the host gives. Throws `Model.BadRequest` for a bad region or address.
 */
export function createAnthropicBedrockProvider(definition: BedrockProvider, access: Pick<AccessOptions, 'keys'>): ModelProvider {
  const baseURL = bedrockUrl(definition);
  return { call: (request) => callBedrock(request, { ...definition, baseURL }, access) };
}

interface Place extends Pick<BedrockProvider, 'region' | 'credentials'> {
  readonly baseURL: string;
}

async function callBedrock(request: ModelRequest, place: Place, access: Pick<AccessOptions, 'keys'>): Promise<ModelAnswer> {
  const { region, baseURL } = place;
  const { AnthropicBedrock } = await loadPeer('@anthropic-ai/bedrock-sdk', () => import('@anthropic-ai/bedrock-sdk'));
  const { idleMs, firstByteMs } = request;
  const keys = keysOf(place, access);
  const guard = guardedFetch({ idleMs, firstByteMs, apiKey: '', stream: 'bytes' });
  const options = {
    awsRegion: region,
    baseURL,
    defaultHeaders: API_VERSION,
    ...SDK_OPTIONS,
    fetch: guard.fetch,
    openTelemetry: false as const,
  };
  // a bearer token of the environment would win over the keys that the config names
  const client = keys ? new AnthropicBedrock({ ...options, ...keys, apiKey: null }) : new AnthropicBedrock(options);
  const secrets = Object.values(keys ?? {});
  return await callAnthropicCloud(request, { client, guard, account: [baseURL, keys?.awsAccessKey], secrets });
}

interface AwsKeys {
  readonly awsAccessKey: string;
  readonly awsSecretKey: string;
  readonly awsSessionToken?: string;
}

function keysOf({ credentials }: Place, { keys }: Pick<AccessOptions, 'keys'>): AwsKeys | undefined {
  if (!credentials) return undefined;
  const { accessKey, secretKey, sessionToken } = credentials;
  return {
    awsAccessKey: cloudKey(accessKey, keys),
    awsSecretKey: cloudKey(secretKey, keys),
    ...(sessionToken === undefined ? {} : { awsSessionToken: cloudKey(sessionToken, keys) }),
  };
}
