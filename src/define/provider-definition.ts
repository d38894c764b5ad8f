import { z } from 'zod';
import { isWireFormat, type WireFormatDefinition } from './provider/wire-format.js';
import { ProviderQuirks } from './provider-quirks.js';
import { Credentials, KeyReference } from './worker/credentials.js';

/** A server with a known wire format. */
export const HttpProvider = z.strictObject({
  /** Wire format. `openai-completions` is for servers that only complete text; `quirks.template` makes the prompt. */
  api: z.enum(['openai-chat', 'openai-responses', 'openai-completions', 'anthropic']),
  /** Name of a known provider. Its quirks are the defaults of `quirks`. @default none */
  preset: z.string().optional(),
  /** Address of the API, with its path. */
  baseUrl: z.string(),
  /** Reference of the key, or a list of references in the order of use. @default none */
  credentials: Credentials.optional(),
  /** Allows plain http to another host, which sends prompts and key unencrypted. @default false */
  allowInsecure: z.boolean().optional(),
  /** Deviations of the server from the wire format. */
  quirks: ProviderQuirks.optional(),
});
export type HttpProvider = z.infer<typeof HttpProvider>;
/** The name of a wire format that is plain HTTP. */
export type HttpApi = HttpProvider['api'];

/** Claude on Amazon Bedrock, through the optional package `@anthropic-ai/bedrock-sdk`. */
export const BedrockProvider = z.strictObject({
  /** Selects Amazon Bedrock. */
  api: z.literal('anthropic-bedrock'),
  /** AWS region. */
  region: z.string().min(1),
  /** References of access key, secret key and session token. @default the AWS credential chain of the host */
  credentials: z.strictObject({ accessKey: KeyReference, secretKey: KeyReference, sessionToken: KeyReference.optional() }).optional(),
  /** Address of the API. @default the region's */
  baseUrl: z.string().optional(),
  /** Allows plain http to another host. @default false */
  allowInsecure: z.boolean().optional(),
});
export type BedrockProvider = z.infer<typeof BedrockProvider>;

/** Claude on Google Vertex AI, through the optional package `@anthropic-ai/vertex-sdk`. */
export const VertexProvider = z.strictObject({
  /** Selects Google Vertex AI. */
  api: z.literal('anthropic-vertex'),
  /** Google Cloud region. */
  region: z.string().min(1),
  /** Google Cloud project. */
  projectId: z.string().min(1),
  /** Reference of an access token. @default the application default credentials of the host */
  accessToken: KeyReference.optional(),
  /** Address of the API. @default the region's */
  baseUrl: z.string().optional(),
  /** Allows plain http to another host. @default false */
  allowInsecure: z.boolean().optional(),
});
export type VertexProvider = z.infer<typeof VertexProvider>;

/** Second argument of `languageModel`. */
export interface LanguageModelTools {
  /**
   * Returns the value of a reference such as `env:OPENAI_API_KEY`. A worker removes the keys of providers from its environment, so the
   * packages of the SDK do not find them there. Throws when the key is missing.
   */
  readonly key: (reference: string) => string;
  /** A `fetch` that refuses redirects and web pages, and reports bytes while the package returns nothing. */
  readonly fetch: typeof fetch;
}

/**
 * Creates a `LanguageModel` of the Vercel AI SDK for a model's name, such as
 * `(modelId, { key, fetch }) => createOpenAI({ apiKey: key('env:OPENAI_API_KEY'), fetch })(modelId)`. Called once for each name.
 */
export type LanguageModelFactory = (modelId: string, tools: LanguageModelTools) => unknown;

/** Any model of the Vercel AI SDK. The config imports the provider package, which decides where requests go. */
export const AiSdkProvider = z.strictObject({
  /** Selects the Vercel AI SDK. */
  api: z.literal('ai-sdk'),
  /** Creates the model: `(modelId, { key, fetch }) => LanguageModel`, called once for each name. */
  languageModel: z.custom<LanguageModelFactory>(
    (value) => typeof value === 'function',
    'a function (modelId, { key, fetch }) => LanguageModel',
  ),
  /** Options that are passed on unchanged, by the name of the SDK's provider. They override Perdure's own. @default none */
  providerOptions: z.record(z.string(), z.record(z.string(), z.json())).optional(),
});
export type AiSdkProvider = z.infer<typeof AiSdkProvider>;

/** A server with a wire format of your own. */
export const CustomProvider = z.strictObject({
  /** Selects your own wire format. */
  api: z.literal('custom'),
  /** The wire format, made with `defineWireFormat`. */
  format: z.custom<WireFormatDefinition>(isWireFormat, 'a wire format { name, create(server) }'),
  /** Address of the API, with its path. @default none */
  baseUrl: z.string().optional(),
  /**
   * References of the keys. Each must have a value. Without this field, the keys are those in `credentials` of the config. @default none
   */
  credentials: Credentials.optional(),
  /** Allows plain http to another host, which sends prompts and key unencrypted. @default false */
  allowInsecure: z.boolean().optional(),
});
export type CustomProvider = z.infer<typeof CustomProvider>;

/** A provider of the config, discriminated by `api`. */
export const ProviderDefinition = z.discriminatedUnion('api', [
  HttpProvider,
  BedrockProvider,
  VertexProvider,
  AiSdkProvider,
  CustomProvider,
]);
export type ProviderDefinition = z.infer<typeof ProviderDefinition>;
