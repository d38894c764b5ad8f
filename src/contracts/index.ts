export type { AgentActivities, CallModelInput, CallModelResult, CallToolInput, CallToolResult, ReconcileResult } from './activities.js';
export {
  CLIENT_LIMITS,
  CONTINUE_AS_NEW_LIMITS,
  MODEL_LIMITS,
  PAYLOAD_LIMITS,
  RUN_LIMITS,
  SESSION_LIMITS,
  TOOL_LIMITS,
  WORKER_LIMITS,
} from './constants/limits.js';
export { SEARCH_ATTRIBUTES } from './constants/search-attributes.js';
export type { EventPage, RunEvent, RunEventBody } from './event.js';
export { FAILURES, type FailureType } from './failures.js';
export * as handlers from './handlers.js';
export { AGENT_RUN, AGENT_SESSION, DEFAULT_TASK_QUEUE } from './handlers.js';
export type { JsonCompatible } from './json/json-compatible.js';
export type { OutputSchema, TypedRunInput, TypedRunResult, ZodSchema } from './json/output-schema.js';
export { textOf } from './message-text.js';
export { PerdureError } from './perdure-error.js';
export type { ApprovalList, ApproveInput, DecidedApproval, DenyInput, PendingApproval } from './schemas/approval.js';
export { CarriedState } from './schemas/carried-state.js';
export { Conversation } from './schemas/conversation.js';
export {
  ArtifactPart,
  FilePart,
  GivenMessage,
  type JsonValue,
  Message,
  Part,
  SystemMessage,
  TextPart,
  ThinkingPart,
  ToolCallPart,
  ToolResultPart,
} from './schemas/message.js';
export { ModelPrice, Usage } from './schemas/model.js';
export type { PagePart, PageRequest, TranscriptPage, UnreadMessage, UnreadPage } from './schemas/page.js';
export type { AnsweredQuestion, AnswerInput, PendingQuestion } from './schemas/question.js';
export {
  type ExtendInput,
  type HoldInput,
  type Progress,
  Reason,
  type Receipt,
  RunBounds,
  RunInput,
  RunResult,
  type RunStatus,
  type SteerInput,
  SteerMode,
  SteerRecord,
} from './schemas/run.js';
export { RunContext } from './schemas/run-context.js';
export {
  DropPolicy,
  type DroppedSend,
  QueueMode,
  QueueOptions,
  type SendInput,
  type SessionEvent,
  type SessionEventPage,
  SessionInput,
  type SessionRun,
  type SessionState,
  type UnsendInput,
  type Unsent,
  type WaitingSend,
} from './schemas/session.js';
export { Step } from './schemas/step.js';
export { Effect, ToolDescriptor } from './schemas/tool.js';
