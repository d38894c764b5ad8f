export type { AgentActivities, CallModelInput, CallModelResult, CallToolInput, CallToolResult, ReconcileResult } from './activities.js';
export type { ApprovalList, ApproveInput, DecidedApproval, DenyInput, PendingApproval } from './approval.js';
export { CarriedState } from './carried-state.js';
export { PerdureError } from './coded-error.js';
export type { EventPage, RunEvent, RunEventBody } from './event.js';
export { FAILURES, type FailureType } from './failures.js';
export { GivenMessage, SystemMessage } from './given-message.js';
export * as handlers from './handlers.js';
export { AGENT_RUN, DEFAULT_TASK_QUEUE } from './handlers.js';
export { CLIENT_LIMITS, CONTINUE_AS_NEW_LIMITS, MODEL_LIMITS, PAYLOAD_LIMITS, RUN_LIMITS, TOOL_LIMITS, WORKER_LIMITS } from './limits.js';
export { ArtifactPart, FilePart, type JsonValue, Message, Part, TextPart, ThinkingPart, ToolCallPart, ToolResultPart } from './message.js';
export { ModelPrice, Usage } from './model.js';
export {
  type ExtendInput,
  type HoldInput,
  type Progress,
  Reason,
  type Receipt,
  RunBounds,
  RunContext,
  RunInput,
  RunResult,
  type RunStatus,
  type SteerInput,
  SteerMode,
  SteerRecord,
  type TranscriptPage,
} from './run.js';
export { SEARCH_ATTRIBUTES } from './search-attributes.js';
export { Step } from './step.js';
export { textOf } from './text-of.js';
export { Effect, ToolDescriptor } from './tool.js';
