import {
  CompactionPolicy,
  CompletionPolicy,
  GateRule,
  LoopPolicy,
  OutputPolicy,
  RequiredPhase,
} from '../../../src/contracts/schemas/policy.js';
import { RunContext } from '../../../src/contracts/schemas/run-context.js';
import { PromptOptions } from '../../../src/define/agent/agent-prompt.js';
import { StubExecutor, SubprocessExecutor } from '../../../src/define/agent-executor.js';
import { AgentDefinition } from '../../../src/define/define-agent.js';
import { Config } from '../../../src/define/define-config.js';
import { HookDefinition } from '../../../src/define/define-hook.js';
import { Plugin } from '../../../src/define/define-plugin.js';
import { BudgetOptions, PolicyOptions } from '../../../src/define/policy-options.js';
import { ArtifactsBucket, ArtifactsFolder } from '../../../src/define/worker/artifacts.js';
import { BlockOptions, ChannelOptions, SlackChannelDefinition } from '../../../src/define/worker/channels.js';
import { FetchDefinition } from '../../../src/define/worker/fetch.js';
import { GatewayDefinition } from '../../../src/define/worker/gateway.js';
import { McpAddress, McpProcess, McpToolOptions } from '../../../src/define/worker/mcp-servers.js';
import { MemoryDefinition } from '../../../src/define/worker/memory.js';
import { SandboxDefinition } from '../../../src/define/worker/sandbox.js';
import { StreamsDefinition } from '../../../src/define/worker/streams.js';
import { ProviderLimitsDefinition, TenantLimitsDefinition } from '../../../src/define/worker/tenants.js';
import { DocComments } from './doc-comments.js';
import { interfaceTable, schemaTable } from './field-table.js';
import { SCHEMA_NAMES } from './schema-names.js';

const POLICY = new DocComments('contracts/schemas/policy.ts');
const EXECUTOR = new DocComments('define/agent-executor.ts');
const CONFIG = new DocComments('define/define-config.ts');
const TOOL = new DocComments('define/define-tool.ts');
const HOOK = new DocComments('define/define-hook.ts');
const GATE = new DocComments('define/agent-gate.ts');
const PROMPT = new DocComments('define/agent/agent-prompt.ts');
const OPTIONS = new DocComments('define/policy-options.ts');
const names = SCHEMA_NAMES;

const MCP = new DocComments('define/worker/mcp-servers.ts');
const CHANNELS = new DocComments('define/worker/channels.ts');
const MCP_TABLE = { names, types: { sandbox: '[sandbox](config.md#sandbox)', tools: '[options](#options-of-a-tool) by name' } };

/** The generated parts of the pages about configuration. */
export const CONFIG_PARTS: Readonly<Record<string, () => string>> = {
  config: () =>
    schemaTable(
      Config,
      { docs: CONFIG, declarations: ['Config'] },
      {
        names,
        types: {
          tools: 'list of tools',
          limits: '[limits](#limits)',
          tenants: '[tenants](#tenants)',
          sandbox: '[sandbox](#sandbox)',
          streams: '[streams](#streams)',
          mcpServers: '[MCP servers](mcp.md)',
          plugins: '[plugins](plugins.md)',
          fetch: '[fetch](#fetch)',
          memory: '[memory](#memory)',
          gateway: '[gateway](#gateway)',
          channels: '[channels](channels.md)',
        },
      },
    ),
  plugin: () =>
    schemaTable(
      Plugin,
      { docs: new DocComments('define/define-plugin.ts'), declarations: ['Plugin'] },
      {
        names,
        types: {
          name: 'string',
          from: 'string or URL',
          tools: 'list of tools',
          agents: 'a folder, or agents by name',
          skills: 'a folder',
          mcpServers: '[MCP servers](mcp.md)',
        },
      },
    ),
  sandbox: () =>
    schemaTable(
      SandboxDefinition,
      { docs: new DocComments('define/worker/sandbox.ts'), declarations: ['SandboxDefinition'] },
      { names, types: { network: '`none`, `host`, `{ allow }`' } },
    ),
  limits: () =>
    schemaTable(
      Config.shape.limits.unwrap(),
      { docs: CONFIG, declarations: ['ConfigLimits'] },
      { names, types: { providers: '[limits of providers](#limits-of-providers)' } },
    ),
  'tenant-limits': () =>
    schemaTable(
      TenantLimitsDefinition,
      { docs: new DocComments('define/worker/tenants.ts'), declarations: ['TenantLimitsDefinition'] },
      { names },
    ),
  'provider-limits': () =>
    schemaTable(
      ProviderLimitsDefinition,
      { docs: new DocComments('define/worker/tenants.ts'), declarations: ['ProviderLimitsDefinition'] },
      { names },
    ),
  artifacts: () =>
    schemaTable(ArtifactsBucket, { docs: new DocComments('define/worker/artifacts.ts'), declarations: ['ArtifactsBucket'] }, { names }),
  'artifacts-folder': () =>
    schemaTable(ArtifactsFolder, { docs: new DocComments('define/worker/artifacts.ts'), declarations: ['ArtifactsFolder'] }, { names }),
  streams: () =>
    schemaTable(StreamsDefinition, { docs: new DocComments('define/worker/streams.ts'), declarations: ['StreamsDefinition'] }, { names }),
  fetch: () =>
    schemaTable(FetchDefinition, { docs: new DocComments('define/worker/fetch.ts'), declarations: ['FetchDefinition'] }, { names }),
  'channel-options': () => schemaTable(ChannelOptions, { docs: CHANNELS, declarations: ['ChannelOptions'] }, { names }),
  'channel-blocks': () => schemaTable(BlockOptions, { docs: CHANNELS, declarations: ['BlockOptions'] }, { names }),
  'slack-channel': () =>
    schemaTable(
      SlackChannelDefinition.omit({ agent: true, send: true, blocks: true, pause: true, thinking: true, silentToken: true }),
      { docs: CHANNELS, declarations: ['SlackChannelDefinition'] },
      { names },
    ),
  gateway: () =>
    schemaTable(GatewayDefinition, { docs: new DocComments('define/worker/gateway.ts'), declarations: ['GatewayDefinition'] }, { names }),
  memory: () =>
    schemaTable(MemoryDefinition, { docs: new DocComments('define/worker/memory.ts'), declarations: ['MemoryDefinition'] }, { names }),
  'mcp-process': () => schemaTable(McpProcess, { docs: MCP, declarations: ['McpProcess', 'ServerOptions'] }, MCP_TABLE),
  'mcp-address': () => schemaTable(McpAddress, { docs: MCP, declarations: ['McpAddress', 'ServerOptions'] }, MCP_TABLE),
  'mcp-tool': () => schemaTable(McpToolOptions, { docs: MCP, declarations: ['McpToolOptions'] }, { names }),
  agent: () =>
    schemaTable(
      AgentDefinition,
      { docs: new DocComments('define/define-agent.ts'), declarations: ['AgentDefinition'] },
      {
        names,
        types: { tools: 'list of names', blockedTools: 'list of names' },
        without: [...Object.keys(PolicyOptions.shape), ...Object.keys(PromptOptions.shape)],
      },
    ),
  'prompt-options': () =>
    schemaTable(
      PromptOptions,
      { docs: PROMPT, declarations: ['PromptOptions'] },
      { names, types: { skills: '`all`, list of names', promptMode: '`full`, `minimal`, `none`' } },
    ),
  'run-context': () =>
    schemaTable(RunContext, { docs: new DocComments('contracts/schemas/run-context.ts'), declarations: ['RunContext'] }, { names }),
  'prompt-context': () => interfaceTable(PROMPT, 'PromptContext', { hasDefaults: false }),
  budget: () => schemaTable(BudgetOptions, { docs: OPTIONS, declarations: ['BudgetOptions'] }, { names }),
  subprocess: () => schemaTable(SubprocessExecutor, { docs: EXECUTOR, declarations: ['SubprocessExecutor'] }, { names }),
  stub: () => schemaTable(StubExecutor, { docs: EXECUTOR, declarations: ['StubExecutor'] }, { names }),
  policy: () => schemaTable(PolicyOptions, { docs: OPTIONS, declarations: ['PolicyOptions'] }, { names, types: GROUPS }),
  loop: () => schemaTable(LoopPolicy, { docs: POLICY, declarations: ['LoopPolicy'] }, { names }),
  completion: () => schemaTable(CompletionPolicy, { docs: POLICY, declarations: ['CompletionPolicy'] }, { names, without: ['custom'] }),
  phase: () => schemaTable(RequiredPhase, { docs: POLICY, declarations: ['RequiredPhase'] }, { names }),
  output: () => schemaTable(OutputPolicy, { docs: POLICY, declarations: ['OutputPolicy'] }, { names }),
  compaction: () => schemaTable(CompactionPolicy, { docs: POLICY, declarations: ['CompactionPolicy'] }, { names }),
  'gate-rule': () => schemaTable(GateRule, { docs: POLICY, declarations: ['GateRule'] }, { names }),
  'gate-context': () => interfaceTable(GATE, 'GateContext', { hasDefaults: false }),
  'completion-context': () =>
    interfaceTable(new DocComments('define/agent/completion-gate.ts'), 'CompletionContext', { hasDefaults: false }),
  'compactor-context': () => interfaceTable(new DocComments('define/agent/compactor.ts'), 'CompactorContext', { hasDefaults: false }),
  tool: () => interfaceTable(TOOL, 'ToolDefinition', { hasDefaults: true }),
  'tool-context': () => interfaceTable(TOOL, 'ToolContext', { hasDefaults: false }),
  'tool-output': () => interfaceTable(TOOL, 'ToolOutput', { hasDefaults: false }),
  'output-collector': () => interfaceTable(TOOL, 'OutputCollector', { hasDefaults: false }),
  hook: () => schemaTable(HookDefinition, { docs: HOOK, declarations: ['HookDefinition'] }, { names }),
  'hook-context': () => interfaceTable(HOOK, 'HookContext', { hasDefaults: false }),
  'hook-request': () => interfaceTable(HOOK, 'HookRequest', { hasDefaults: false }),
};

/** Options with parts, which have a table of their own. */
const GROUPS: Readonly<Record<string, string>> = {
  loop: '[loop](#loop)',
  completion: '[completion](#completion)',
  output: '[output](#output)',
  compaction: '[compaction](#compaction)',
};
