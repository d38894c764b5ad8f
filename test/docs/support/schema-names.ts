import { DecidedApproval, PendingApproval } from '../../../src/contracts/schemas/approval.js';
import { Conversation } from '../../../src/contracts/schemas/conversation.js';
import { GivenMessage, Message, Part } from '../../../src/contracts/schemas/message.js';
import { ModelPrice, StopReason, ThinkingSetting, Usage } from '../../../src/contracts/schemas/model.js';
import { ModelSpending, ModelSwitch, ModelTimes } from '../../../src/contracts/schemas/model-route.js';
import { GateRule, RequiredPhase } from '../../../src/contracts/schemas/policy.js';
import { Reason, RunBounds, SteerRecord } from '../../../src/contracts/schemas/run.js';
import { RunContext } from '../../../src/contracts/schemas/run-context.js';
import { QueueOptions } from '../../../src/contracts/schemas/session.js';
import { AgentExecutor } from '../../../src/define/agent-executor.js';
import { AgentGate } from '../../../src/define/agent-gate.js';
import { AgentDefinition } from '../../../src/define/define-agent.js';
import { HookDefinition, HookPoint } from '../../../src/define/define-hook.js';
import { ModelOptions } from '../../../src/define/model-options.js';
import { BudgetOptions } from '../../../src/define/policy-options.js';
import { PresetName } from '../../../src/define/presets.js';
import { ProviderDefinition } from '../../../src/define/provider-definition.js';
import { ProviderQuirks } from '../../../src/define/provider-quirks.js';
import { ArtifactsDefinition } from '../../../src/define/worker/artifacts.js';
import { Credentials, KeyReference } from '../../../src/define/worker/credentials.js';
import { ScriptStep, ScriptToolCall } from '../../../src/providers/scripted/script.js';
import { ScriptFault } from '../../../src/providers/scripted/script-fault.js';

const NAMED = {
  AgentDefinition,
  AgentExecutor,
  AgentGate,
  ArtifactsDefinition,
  BudgetOptions,
  Conversation,
  Credentials,
  DecidedApproval,
  GateRule,
  GivenMessage,
  HookDefinition,
  HookPoint,
  KeyReference,
  Message,
  ModelOptions,
  ModelPrice,
  ModelSpending,
  ModelSwitch,
  ModelTimes,
  Part,
  PendingApproval,
  PresetName,
  QueueOptions,
  ProviderDefinition,
  ProviderQuirks,
  Reason,
  RequiredPhase,
  RunBounds,
  RunContext,
  ScriptFault,
  ScriptStep,
  ScriptToolCall,
  SteerRecord,
  StopReason,
  ThinkingSetting,
  Usage,
} as const;

/** Schemas that tables show by their names; each has a table or a list of values on some page. */
export const SCHEMA_NAMES: ReadonlyMap<unknown, string> = new Map(Object.entries(NAMED).map(([name, schema]) => [schema, name]));
