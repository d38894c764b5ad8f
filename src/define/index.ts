export { type AgentDefinition, defineAgent } from './define-agent.js';
export { type Config, defineConfig, type ProviderDefinition } from './define-config.js';
export {
  type AnyToolDefinition,
  defineTool,
  type Reconciled,
  type ToolContext,
  type ToolDefinition,
  type ToolOptions,
  type ToolReturn,
} from './define-tool.js';
