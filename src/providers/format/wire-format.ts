import type { AgentExecutor } from '../../define/agent-executor.js';
import type { HttpApi, HttpProvider, ProviderDefinition } from '../../define/provider-definition.js';
import type { ProviderQuirks } from '../../define/provider-quirks.js';
import type { AccessOptions } from '../contract/access-options.js';
import type { ModelProvider, ProviderSettings } from '../contract/provider.js';
import type { ModelList } from '../http/model-list.js';
import type { FormatServer } from './format-server.js';

/**
 * A wire format of HTTP servers that a config describes with `baseUrl`, `credentials` and `quirks`.
 *
 * Contract: neither the format nor `create` loads an SDK: the first call of the provider does. The rest is data and pure.
 */
export interface HttpFormat {
  readonly kind: 'http';
  readonly api: HttpApi;
  /** The header of the key, where no quirk sets one. */
  readonly keyHeader: NonNullable<ProviderQuirks['keyHeader']>;
  /** The quirks that apply to the format; any other one in a config is an error. */
  readonly quirks: readonly (keyof ProviderQuirks)[];
  readonly modelList: ModelList;
  /** True: tools are always described in the prompt, so models without tool support can call them. @default false */
  readonly toolsInPrompt?: boolean;
  create(settings: ProviderSettings): ModelProvider;
  /** The server side of the format, for tests. */
  loadServer(): Promise<FormatServer>;
}

/** A definition with a schema of its own. */
export type CustomDefinition = Exclude<ProviderDefinition, HttpProvider>;

/**
 * A provider with a config schema of its own, such as a cloud's SDK.
 *
 * Contract: called only with definitions of its own `api`. `create` loads no SDK; it throws a ModelError for a definition that cannot be used.
 */
export interface CustomFormat<Definition extends CustomDefinition = CustomDefinition> {
  readonly kind: 'custom';
  readonly api: Definition['api'];
  /** The references of all keys that a definition names; each must have a value. Undefined: keys stand in `credentials` of the config. */
  keyReferences(definition: Definition): readonly string[] | undefined;
  create(definition: Definition, options: AccessOptions): ModelProvider;
}

/** One wire format: all that depends on it. */
export type WireFormat = HttpFormat | CustomFormat;

/** An executor of agents: `subprocess/AGENT` and so on in place of a model. */
export type Executor = Exclude<AgentExecutor, { readonly kind: 'llm' }>;

/** The agent that an executor runs. */
export interface ExecutorRequest<Options extends Executor = Executor> extends Pick<AccessOptions, 'env' | 'keys'> {
  /** The agent's name, for errors. */
  readonly agent: string;
  readonly executor: Options;
}

/**
 * A kind of executor.
 *
 * Contract: called only with executors of its own `kind`.
 */
export interface ExecutorFormat<Options extends Executor = Executor> {
  readonly kind: Options['kind'];
  /** The longest time of one call in milliseconds; undefined: that of any model. */
  totalMs(executor: Options): number | undefined;
  create(request: ExecutorRequest<Options>): ModelProvider;
}
