import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import type { AgentActivities, CallToolResult } from '../../contracts/activities.js';
import { hashJson } from '../../contracts/digest.js';
import type { PreparedRun, RunSetup } from '../../contracts/schemas/prepared-run.js';
import type { ToolDescriptor } from '../../contracts/schemas/tool.js';
import type { SecretMask } from '../../contracts/text/secret-mask.js';
import { maskHashed } from './mask-message.js';

/** Masks the free texts of a result, never its names, ids and references. */
type MaskResult<Result> = (result: Result, secrets: SecretMask) => Result;

/**
 * The last boundary of a worker: no result and no failure of an activity contains a secret that the worker knows. Texts that an activity
 * cuts, hashes, streams or stores are masked there, before that, so that nothing is left to mask here.
 */
export function maskActivities(activities: AgentActivities, secrets: SecretMask): AgentActivities {
  const masked = <Input, Result>(run: (input: Input) => Promise<Result>, mask: MaskResult<Result>) => {
    return async (input: Input): Promise<Result> => {
      try {
        return mask(await run(input), secrets);
      } catch (error) {
        throw maskError(error, secrets);
      }
    };
  };
  return {
    prepareRun: masked(activities.prepareRun, maskPrepared),
    checkSignature: activities.checkSignature,
    askTenant: activities.askTenant,
    checkTenant: activities.checkTenant,
    awaitRoom: activities.awaitRoom,
    endCommands: activities.endCommands,
    signStart: activities.signStart,
    prepareSession: activities.prepareSession,
    checkMessages: activities.checkMessages,
    sendScheduled: activities.sendScheduled,
    // the runs that it reads from masked their messages
    copyConversation: activities.copyConversation,
    // the result of a run holds what its own activities masked
    awaitRun: activities.awaitRun,
    resolveModel: masked(activities.resolveModel, (result) => ('problem' in result ? { problem: secrets.text(result.problem) } : result)),
    listTools: masked(activities.listTools, (found) =>
      'problem' in found
        ? { problem: secrets.text(found.problem) }
        : { ...found, tools: maskTools(found.tools, secrets), notices: secrets.json(found.notices) },
    ),
    callModel: masked(activities.callModel, (result) => {
      if (result.kind === 'answer') return maskHashed(result, secrets);
      return result.partial === undefined ? result : { ...result, partial: maskHashed(result.partial, secrets) };
    }),
    callTool: masked(activities.callTool, maskToolResult),
    reconcileTool: masked(activities.reconcileTool, (found) =>
      found.kind === 'done' ? { ...found, result: maskToolResult(found.result, secrets) } : found,
    ),
    recallResult: masked(activities.recallResult, (found) =>
      found.kind === 'done' ? { ...found, result: maskToolResult(found.result, secrets) } : found,
    ),
    checkTool: masked(activities.checkTool, (decision) => ({
      ...decision,
      ...(decision.reason === undefined ? {} : { reason: secrets.text(decision.reason) }),
      ...(decision.args === undefined ? {} : { args: secrets.json(decision.args) }),
    })),
    runHooks: masked(activities.runHooks, (result) => {
      if (result.action === 'allow') return result;
      if (result.action === 'modify') return { ...result, output: secrets.text(result.output) };
      return { ...result, reason: secrets.text(result.reason) };
    }),
    acceptAnswer: masked(activities.acceptAnswer, (result) => {
      if (!result.accept) return { ...result, correction: secrets.text(result.correction) };
      return result.structured === undefined ? result : { ...result, structured: secrets.json(result.structured) };
    }),
    compact: masked(activities.compact, (result) => ({
      ...result,
      messages: result.messages.map((made) => maskHashed(made, secrets)),
      ...(result.note === undefined ? {} : { note: secrets.text(result.note) }),
    })),
  };
}

/** A prepared run without secrets, with the hash of its masked setup. */
export function maskPrepared(prepared: PreparedRun, secrets: SecretMask): PreparedRun {
  const setup = maskSetup(prepared.setup, secrets);
  const notices = prepared.notices && secrets.json(prepared.notices);
  if (setup === prepared.setup && notices === prepared.notices) return prepared;
  return { ...prepared, setup, setupHash: hashJson(setup), ...(notices === undefined ? {} : { notices }) };
}

/** The range of the given text moves with a text before it that is masked. */
function maskSetup(setup: RunSetup, secrets: SecretMask): RunSetup {
  const { prompt, given, tools } = setup;
  const { from, to } = given ?? { from: prompt.length, to: prompt.length };
  const before = secrets.text(prompt.slice(0, from));
  const inside = secrets.text(prompt.slice(from, to));
  const masked = `${before}${inside}${secrets.text(prompt.slice(to))}`;
  const maskedTools = maskTools(tools, secrets);
  if (masked === prompt && maskedTools.every((tool, index) => tool === tools[index])) return setup;
  const range = given === undefined ? {} : { given: { from: before.length, to: before.length + inside.length } };
  return { ...setup, prompt: masked, tools: maskedTools, ...range };
}

/** Each tool without secrets; the same object when it has none. */
function maskTools(tools: readonly ToolDescriptor[], secrets: SecretMask): readonly ToolDescriptor[] {
  return tools.map((tool) => {
    const [description, schema] = [secrets.text(tool.description), secrets.json(tool.schema)];
    return description === tool.description && schema === tool.schema ? tool : { ...tool, description, schema };
  });
}

function maskToolResult(result: CallToolResult, secrets: SecretMask): CallToolResult {
  const masked = maskHashed(result, secrets);
  return masked.abort === undefined ? masked : { ...masked, abort: secrets.text(masked.abort) };
}

/** How many causes of a failure are kept. */
const CAUSES_MAX = 8;

/** The error without secrets in message, stack, details and causes; the same error when it has none. Its type never changes. */
function maskError(error: unknown, secrets: SecretMask, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === 'string' ? secrets.text(error) : error;
  const message = secrets.text(error.message);
  const stack = error.stack === undefined ? undefined : secrets.text(error.stack);
  const cause = error.cause === undefined || depth >= CAUSES_MAX ? undefined : maskError(error.cause, secrets, depth + 1);
  const details = detailsOf(error);
  const maskedDetails = details && secrets.json([...details]);
  const isSame = message === error.message && stack === error.stack && cause === error.cause;
  if (isSame && (maskedDetails ?? []).every((detail, index) => detail === details?.[index])) return error;
  const masked = copyOf(error, { message, details: maskedDetails ?? [], cause });
  if (stack !== undefined) masked.stack = stack;
  return masked;
}

interface MaskedParts {
  readonly message: string;
  readonly details: unknown[];
  readonly cause: unknown;
}

function copyOf(error: Error, { message, details, cause }: MaskedParts): Error {
  const by = cause instanceof Error ? cause : undefined;
  if (error instanceof CancelledFailure) return new CancelledFailure(message, details, by);
  if (error instanceof ApplicationFailure) {
    const { type, nonRetryable, nextRetryDelay, category } = error;
    return new ApplicationFailure(message, type, nonRetryable, details, by, nextRetryDelay, category);
  }
  const copy = new Error(message, ...(cause === undefined ? [] : [{ cause }]));
  // the name becomes the type of the failure
  copy.name = error.name;
  return copy;
}

function detailsOf(error: Error): readonly unknown[] | undefined {
  const isFailure = error instanceof ApplicationFailure || error instanceof CancelledFailure;
  return isFailure ? (error.details ?? undefined) : undefined;
}
