import { z } from 'zod';
import { ModelPrice } from '../../contracts/schemas/model.js';
import { ModelTimes } from '../../contracts/schemas/model-route.js';
import { GatePolicy, GateRule, RequiredPhase } from '../../contracts/schemas/policy.js';
import { StubExecutor, SubprocessExecutor } from '../../define/agent-executor.js';
import { AgentDefinition } from '../../define/define-agent.js';
import { Config } from '../../define/define-config.js';
import { HookDefinition } from '../../define/define-hook.js';
import { Plugin } from '../../define/define-plugin.js';
import { ModelOptions } from '../../define/model-options.js';
import { BudgetOptions, PolicyOptions } from '../../define/policy-options.js';
import { HttpProvider, ProviderDefinition } from '../../define/provider-definition.js';
import { ProviderQuirks } from '../../define/provider-quirks.js';
import { ArtifactsBucket, ArtifactsFolder } from '../../define/worker/artifacts.js';
import { McpAddress, McpProcess, McpToolOptions } from '../../define/worker/mcp-servers.js';
import { MemoryDefinition } from '../../define/worker/memory.js';
import { StreamsDefinition } from '../../define/worker/streams.js';
import { ProviderLimitsDefinition, TenantLimitsDefinition, TenantsDefinition } from '../../define/worker/tenants.js';

const PLUGIN = 'plugins.*';

/** The known fields by their path, for "did you mean". */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  '': Object.keys(Config.shape),
  'agents.*': Object.keys(AgentDefinition.shape),
  'agents.*.executor': Object.keys(SubprocessExecutor.shape),
  'agents.*.executor:stub': Object.keys(StubExecutor.shape),
  'agents.*.executor:llm': ['kind'],
  'agents.*.budget': Object.keys(BudgetOptions.shape),
  'agents.*.gate': Object.keys(GatePolicy.shape),
  'agents.*.gate.rules.*': Object.keys(GateRule.shape),
  'agents.*.completion.phases.*': Object.keys(RequiredPhase.shape),
  ...fieldsOfGroups('agents.*', PolicyOptions.shape),
  'hooks.*': Object.keys(HookDefinition.shape),
  [PLUGIN]: Object.keys(Plugin.shape),
  'providers.*': Object.keys(HttpProvider.shape),
  ...fieldsOfProviders(),
  'providers.*.quirks': Object.keys(ProviderQuirks.shape),
  'models.*': Object.keys(ModelOptions.shape),
  'models.*.times': Object.keys(ModelTimes.shape),
  'models.*.price': Object.keys(ModelPrice.shape),
  'prices.*': Object.keys(ModelPrice.shape),
  artifacts: [...Object.keys(ArtifactsBucket.shape), ...Object.keys(ArtifactsFolder.shape)],
  memory: Object.keys(MemoryDefinition.shape),
  'mcpServers.*': [...Object.keys(McpProcess.shape), ...Object.keys(McpAddress.shape)],
  'mcpServers.*.tools.*': Object.keys(McpToolOptions.shape),
  streams: Object.keys(StreamsDefinition.shape),
  limits: Object.keys(Config.shape.limits.unwrap().shape),
  'limits.*.*': Object.keys(ProviderLimitsDefinition.shape),
  tenants: Object.keys(TenantsDefinition.shape),
  'tenants.*.*': Object.keys(TenantLimitsDefinition.shape),
};

/** The known fields at a path. For a union, those of the given kind. Never throws. */
export function fieldsAt(path: string, value: unknown): readonly string[] {
  const kind = typeof value === 'object' && value !== null ? (Reflect.get(value, 'api') ?? Reflect.get(value, 'kind')) : undefined;
  // what a plugin brings has the fields of the same things in a config
  const own = path === PLUGIN ? path : path.replace(`${PLUGIN}.`, '');
  return FIELDS[`${own}:${String(kind)}`] ?? FIELDS[own] ?? [];
}

/** The fields of each provider kind that is not an HTTP server. */
function fieldsOfProviders(): Record<string, readonly string[]> {
  const fields = ProviderDefinition.options.flatMap(({ shape }) =>
    'value' in shape.api ? [[`providers.*:${shape.api.value}`, Object.keys(shape)] as const] : [],
  );
  return Object.fromEntries(fields);
}

/** The fields of nested option groups. */
function fieldsOfGroups(place: string, shape: typeof PolicyOptions.shape): Record<string, readonly string[]> {
  const groups = Object.entries(shape).map(([name, field]) => [`${place}.${name}`, field.unwrap()] as const);
  return Object.fromEntries(
    groups.flatMap(([path, group]) => (group instanceof z.ZodObject ? [[path, Object.keys(group.shape)] as const] : [])),
  );
}
