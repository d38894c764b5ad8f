import { z } from 'zod';
import { Credentials, KeyReference } from './credentials.js';
import { ProviderQuirks } from './provider-quirks.js';

/** A server that speaks a known wire format. */
export const HttpProvider = z.strictObject({
  /** `openai-completions`: the older door for servers without chat; its prompt is made by a template. */
  api: z.enum(['openai-chat', 'openai-responses', 'openai-completions', 'anthropic']),
  /** A known provider's name: its quirks are the ground of these. */
  preset: z.string().optional(),
  baseUrl: z.string(),
  credentials: Credentials.optional(),
  /** Plain http to another machine sends prompts and key in the clear: it must be asked for. @default false */
  allowInsecure: z.boolean().optional(),
  quirks: ProviderQuirks.optional(),
});
export type HttpProvider = z.infer<typeof HttpProvider>;
/** The name of a wire format that is plain HTTP. */
export type HttpApi = HttpProvider['api'];

/** Claude on Amazon Bedrock, through the optional peer `@anthropic-ai/bedrock-sdk`. Without credentials the AWS chain of the host is used. */
export const BedrockProvider = z.strictObject({
  api: z.literal('anthropic-bedrock'),
  region: z.string().min(1),
  /** References of access key, secret and session token. */
  credentials: z.strictObject({ accessKey: KeyReference, secretKey: KeyReference, sessionToken: KeyReference.optional() }).optional(),
  /** @default the region's own */
  baseUrl: z.string().optional(),
  allowInsecure: z.boolean().optional(),
});
export type BedrockProvider = z.infer<typeof BedrockProvider>;

/** Claude on Google Vertex AI, through the optional peer `@anthropic-ai/vertex-sdk`. */
export const VertexProvider = z.strictObject({
  api: z.literal('anthropic-vertex'),
  region: z.string().min(1),
  projectId: z.string().min(1),
  /** The reference of an access token; absent: Google's application default credentials of the host. */
  accessToken: KeyReference.optional(),
  /** @default the region's own */
  baseUrl: z.string().optional(),
  allowInsecure: z.boolean().optional(),
});
export type VertexProvider = z.infer<typeof VertexProvider>;

/** What a config may make a model of the AI SDK with. */
export interface LanguageModelTools {
  /**
   * The value of a reference such as `env:OPENAI_API_KEY`: a worker takes the keys of providers out of its environment, where the SDK's
   * packages would look for them. Throws when there is none.
   */
  readonly key: (reference: string) => string;
  /** Refuses redirects and web pages, which the packages' own fetch does not. */
  readonly fetch: typeof fetch;
}

/**
 * Makes a `LanguageModel` of the Vercel AI SDK for a model's id, as `(modelId, { key, fetch }) => createOpenAI({ apiKey:
 * key('env:OPENAI_API_KEY'), fetch })(modelId)` does. Called once for each id.
 */
export type LanguageModelFactory = (modelId: string, tools: LanguageModelTools) => unknown;

/** Any model of the Vercel AI SDK, whose provider package the config brings. Where a request goes is that package's own affair. */
export const AiSdkProvider = z.strictObject({
  api: z.literal('ai-sdk'),
  languageModel: z.custom<LanguageModelFactory>(
    (value) => typeof value === 'function',
    'a function (modelId, { key, fetch }) => LanguageModel',
  ),
  /** Passed on as they are, by the SDK provider's name. */
  providerOptions: z.record(z.string(), z.record(z.string(), z.json())).optional(),
});
export type AiSdkProvider = z.infer<typeof AiSdkProvider>;

/** A provider of the config, discriminated by `api`. */
export const ProviderDefinition = z.discriminatedUnion('api', [HttpProvider, BedrockProvider, VertexProvider, AiSdkProvider]);
export type ProviderDefinition = z.infer<typeof ProviderDefinition>;
