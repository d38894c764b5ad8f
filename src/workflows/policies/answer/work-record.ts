import { WORK_LIMITS } from '../../../contracts/constants/limits.js';
import type { WorkRecord } from '../../../contracts/schemas/carried-state.js';
import type { JsonValue, Message, ToolCallPart, ToolResultPart } from '../../../contracts/schemas/message.js';
import type { CompletionPolicy, RequiredPhase } from '../../../contracts/schemas/policy.js';
import type { Effect } from '../../../contracts/schemas/tool.js';
import { callSignature } from '../loop/call-signature.js';

/** The calls of one answer, and the messages that hold their results. */
export interface TurnOfWork {
  readonly calls: readonly ToolCallPart[];
  readonly results: readonly Message[];
}

/** The checks that need the record, and the effect of each tool. */
export interface WorkRules {
  readonly policy: CompletionPolicy;
  readonly effectOf: (tool: string) => Effect | undefined;
}

/** The record after one more turn. Pure: it does not depend on messages that compaction may change. Never throws. */
export function recordWork(work: WorkRecord, { calls, results }: TurnOfWork, rules: WorkRules): WorkRecord {
  const answered = answeredCalls(calls, results);
  const reading = readingAfter(work.reading, answered, rules);
  return answered.reduce((before, call) => recordCall(before, call, rules), { ...work, reading });
}

function recordCall(work: WorkRecord, answered: AnsweredCall, rules: WorkRules): WorkRecord {
  return {
    ...work,
    calls: work.calls + 1,
    openSteps: stepsAfter(work.openSteps, answered, rules),
    unverified: unverifiedAfter(work.unverified, answered, rules),
    phases: phasesAfter(work.phases, answered, rules),
    versionControlFailed: work.versionControlFailed || isFailedVersionControl(answered),
  };
}

/** The open steps in the last successful call of the plan tool. */
function stepsAfter(steps: string[], { call, ok }: AnsweredCall, { policy }: WorkRules): string[] {
  return ok && call.name === policy.planTool ? different(openSteps(call.args)) : steps;
}

/**
 * The edited files without a later look. An edit is a successful call with side effects that names a file. A failed command counts as a
 * look.
 */
function unverifiedAfter(files: string[], { call, ok }: AnsweredCall, { policy, effectOf }: WorkRules): string[] {
  const file = fileOf(call);
  const effect = effectOf(call.name);
  // the calls of an unknown tool never ran
  const mayWrite = effect !== undefined && effect !== 'read';
  if (ok && mayWrite && file !== undefined) return different([...files, file]);
  const isLook = call.name !== policy.planTool && (ok || (mayWrite && file === undefined));
  return isLook ? [] : files;
}

function phasesAfter(phases: number[], answered: AnsweredCall, { policy }: WorkRules): number[] {
  const done = policy.phases.flatMap((phase, position) => (completes(answered, phase) && !phases.includes(position) ? [position] : []));
  return done.length === 0 ? phases : [...phases, ...done];
}

/** True when the call completes the phase: a successful call of any of its tools. */
function completes({ call, ok }: AnsweredCall, { tools, command }: RequiredPhase): boolean {
  if (!ok || !tools.includes(call.name)) return false;
  const given = textArgument(call, 'command')?.trim();
  return command === undefined || given === undefined || given === command || given.startsWith(`${command} `);
}

function isFailedVersionControl({ call, ok }: AnsweredCall): boolean {
  return !ok && /^\s*git\b/u.test(textArgument(call, 'command') ?? '');
}

/** The reading record. A turn that only updated the plan does not change it. */
function readingAfter(
  reading: WorkRecord['reading'],
  answered: readonly AnsweredCall[],
  { policy, effectOf }: WorkRules,
): WorkRecord['reading'] {
  const calls = answered.map(({ call }) => call).filter(({ name }) => name !== policy.planTool);
  if (calls.length === 0) return reading;
  if (calls.some(({ name }) => effectOf(name) !== 'read')) return { turns: 0, reads: [] };
  return { turns: reading.turns + 1, reads: calls.reduce(readsAfter, reading.reads).slice(-WORK_LIMITS.readsMax) };
}

type Reads = WorkRecord['reading']['reads'];

function readsAfter(reads: Reads, call: ToolCallPart): Reads {
  const file = fileOf(call);
  if (file === undefined) return reads;
  const signature = callSignature(call);
  const times = reads.find((read) => read.signature === signature)?.times ?? 0;
  return [...reads.filter((read) => read.signature !== signature), { signature, file: shortName(file), times: times + 1 }];
}

function different(names: readonly string[]): string[] {
  return [...new Set(names.map(shortName))].slice(-WORK_LIMITS.namesMax);
}

function shortName(name: string): string {
  return name.length > WORK_LIMITS.nameCharsMax ? `${name.slice(0, WORK_LIMITS.nameCharsMax)}…` : name;
}

/** A tool call that has its result. */
export interface AnsweredCall {
  readonly call: ToolCallPart;
  /** True when the result is not an error. A refused or stopped call has failed. */
  readonly ok: boolean;
}

/** The calls of one answer that have a result in these messages, in call order. */
function answeredCalls(calls: readonly ToolCallPart[], messages: readonly Message[]): AnsweredCall[] {
  const results = new Map<string, ToolResultPart>();
  for (const { parts } of messages) {
    for (const part of parts) if (part.type === 'tool_result') results.set(part.callId, part);
  }
  return calls.flatMap((call) => {
    const result = results.get(call.callId);
    return result ? [{ call, ok: !result.isError }] : [];
  });
}

/** The first text argument of a call under one of these names; undefined when there is none. */
function textArgument({ args }: ToolCallPart, ...names: readonly string[]): string | undefined {
  if (args === null || typeof args !== 'object' || Array.isArray(args)) return undefined;
  return names.map((name) => (Object.hasOwn(args, name) ? args[name] : undefined)).find((value) => typeof value === 'string');
}

/** The file argument of a call; undefined when it has none. */
function fileOf(call: ToolCallPart): string | undefined {
  return textArgument(call, 'path', 'file_path', 'filePath');
}

/** The statuses of a finished or dropped step. */
const OVER: ReadonlySet<string> = new Set(['done', 'completed', 'complete', 'finished', 'cancelled', 'canceled', 'skipped', 'dropped']);

/**
 * The open steps of a plan, each with its status: `write the test (pending)`. Supports custom plan tools with common argument names;
 * arguments of any other shape contain no steps. Never throws.
 */
export function openSteps(args: JsonValue): string[] {
  return stepsOf(args)
    .filter(({ status }) => !OVER.has(status))
    .map(({ text, status }) => `${text} (${status})`);
}

function stepsOf(args: JsonValue): { text: string; status: string }[] {
  if (!isObject(args)) return [];
  const steps = ['steps', 'items', 'plan', 'todos'].map((name) => args[name]).find((value) => Array.isArray(value)) ?? [];
  return steps.filter(isObject).map((step, index) => ({
    text: firstText(step, ['step', 'text', 'content', 'title']) ?? `step ${index + 1}`,
    status: firstText(step, ['status', 'state'])?.toLowerCase() ?? 'pending',
  }));
}

function firstText(step: Readonly<Record<string, JsonValue>>, names: readonly string[]): string | undefined {
  return names.map((name) => step[name]).find((value) => typeof value === 'string');
}

function isObject(value: JsonValue): value is Record<string, JsonValue> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
