import type { HttpApi, HttpProvider, ProviderDefinition } from '../define/provider-definition.js';
import { AI_SDK } from './ai-sdk/format.js';
import { ANTHROPIC, ANTHROPIC_BEDROCK, ANTHROPIC_VERTEX } from './anthropic/formats.js';
import { CUSTOM } from './custom/format.js';
import { STUB, SUBPROCESS } from './executor/formats.js';
import type { CustomDefinition, CustomFormat, Executor, ExecutorFormat, HttpFormat, WireFormat } from './format/wire-format.js';
import { OPENAI_CHAT } from './openai/chat/format.js';
import { OPENAI_COMPLETIONS } from './openai/completions/format.js';
import { OPENAI_RESPONSES } from './openai/responses/format.js';

type WireFormats = { readonly [Api in HttpApi]: HttpFormat } & {
  readonly [Api in CustomDefinition['api']]: CustomFormat<Extract<CustomDefinition, { readonly api: Api }>>;
};

/** All wire formats. To add one: its folder, a line here, and its `api` in `define/provider-definition.ts`. */
const WIRE_FORMATS: WireFormats = {
  'openai-chat': OPENAI_CHAT,
  'openai-completions': OPENAI_COMPLETIONS,
  'openai-responses': OPENAI_RESPONSES,
  anthropic: ANTHROPIC,
  'anthropic-bedrock': ANTHROPIC_BEDROCK,
  'anthropic-vertex': ANTHROPIC_VERTEX,
  'ai-sdk': AI_SDK,
  custom: CUSTOM,
};

/** All kinds of executors. */
const EXECUTOR_FORMATS: { readonly [Kind in Executor['kind']]: ExecutorFormat<Extract<Executor, { readonly kind: Kind }>> } = {
  subprocess: SUBPROCESS,
  stub: STUB,
};

/** The names before the slash of a model that mean an agent with an executor. */
export const EXECUTOR_KINDS: ReadonlySet<string> = new Set(Object.keys(EXECUTOR_FORMATS));

/** The formats of HTTP servers. */
export const HTTP_FORMATS: readonly HttpFormat[] = Object.values<WireFormat>(WIRE_FORMATS).filter((format) => format.kind === 'http');

/** The format of an HTTP server. */
export function httpFormat(api: HttpApi): HttpFormat {
  return WIRE_FORMATS[api];
}

/** The format of a definition with a schema of its own. */
export function customFormat({ api }: CustomDefinition): CustomFormat {
  return WIRE_FORMATS[api];
}

/** True for the definition of an HTTP server. */
export function isHttpProvider(definition: ProviderDefinition): definition is HttpProvider {
  return WIRE_FORMATS[definition.api].kind === 'http';
}

/** The kind of an executor. */
export function executorFormat({ kind }: Executor): ExecutorFormat {
  return EXECUTOR_FORMATS[kind];
}
