export type { Right, TokenFunction, TokenGrant } from '../contracts/access/token-grant.js';
export type { PromptContext, PromptFunction, PromptMode } from './agent/agent-prompt.js';
export type { CompactorContext, CustomCompactor } from './agent/compactor.js';
export type { CompletionContext, CompletionDecision, CompletionGate } from './agent/completion-gate.js';
export type { AgentExecutor } from './agent-executor.js';
export type { AgentGate, GateAnswer, GateContext, GateFunction } from './agent-gate.js';
export { DESTRUCTIVE_COMMANDS } from './agent-gate.js';
export { type AgentDefinition, defineAgent } from './define-agent.js';
export { type Config, defineConfig } from './define-config.js';
export { defineHook, type HookContext, type HookDecision, type HookDefinition, type HookPoint, type HookRequest } from './define-hook.js';
export { definePlugin, type Plugin } from './define-plugin.js';
export type { OutputCollector, ToolOutput } from './define-tool.js';
export {
  type AnyToolDefinition,
  defineTool,
  type JsonToolOptions,
  OutcomeUnknownError,
  type Reconciled,
  type ToolContext,
  type ToolDefinition,
  type ToolOptions,
  type ToolReturn,
} from './define-tool.js';
export { type AiSdkTool, type FromAiSdkOptions, fromAiSdk } from './from-ai-sdk.js';
export { type FromLangChainOptions, fromLangChain, type LangChainTool } from './from-lang-chain.js';
export type { ModelFacts, ModelOptions } from './model-options.js';
export type { BudgetOptions, PolicyOptions } from './policy-options.js';
export type { PresetName } from './presets.js';
export { ModelError, type ModelErrorDetails, type ModelFailureType } from './provider/model-error.js';
export type { ModelAnswer, ModelProvider, ModelRequest, StreamDelta, ThinkingOrder } from './provider/model-provider.js';
export { defineWireFormat, type ProviderServer, type ServerEvent, type WireFormatDefinition } from './provider/wire-format.js';
export type { LanguageModelFactory, LanguageModelTools, ProviderDefinition } from './provider-definition.js';
export type { ProviderQuirks } from './provider-quirks.js';
export type { JsonArguments, JsonSchema } from './tool/json-arguments.js';
export type { McpAddress, McpProcess, McpServer, McpToolOptions } from './worker/mcp-servers.js';
