import { DECISION_LIMITS, HOOK_LIMITS } from '../../contracts/constants/limits.js';
import { cutMiddle, redact } from '../../contracts/text/redact.js';
import { NO_SECRETS, type SecretMask } from '../../contracts/text/secret-mask.js';
import type { HookContext, HookDecision, HookDefinition, HookPoint, HookRequest } from '../../define/define-hook.js';
import { rejectedBy } from '../../providers/http/abortable.js';
import { maskMessage } from '../runtime/mask-message.js';
import { readHookAnswer } from './hook-decision.js';
import { type FilteredCall, hookFilter } from './hook-filter.js';

/** The changes of all hooks at one point, after the last of them. */
export type HookChanges = Pick<HookContext, 'args' | 'output' | 'request'>;

/** The outcome of a chain of hooks. `hook` ended the chain, or was the last that modified something. */
export type HookOutcome =
  | { readonly action: 'allow' }
  | ({ readonly action: 'modify'; readonly hook: string } & HookChanges)
  | { readonly action: 'block'; readonly hook: string; readonly reason: string }
  | { readonly action: 'abort'; readonly hook: string; readonly reason: string };

/**
 * The hooks of a config, in order.
 *
 * Contract: `run` never throws. It runs the matching hooks one after the other until one blocks or aborts; each gets the changes of those
 * before it. A hook that throws, times out or returns an invalid decision blocks, unless its `onError` is `allow`. When the signal of the
 * call is aborted, the chain blocks. `matches` is true when `run` would run a hook.
 */
export interface HookRunner {
  run(on: HookPoint, question: HookContext): Promise<HookOutcome>;
  matches(on: HookPoint, call?: FilteredCall): boolean;
}

/** Makes the runner of a config's hooks. `warn` is called for each hook that fails. `secrets` are masked in all that hooks decide. */
export function createHookRunner(
  hooks: readonly HookDefinition[],
  warn: (message: string) => void,
  secrets: SecretMask = NO_SECRETS,
): HookRunner {
  const ordered = hooks.map(complete).toSorted((a, b) => a.priority - b.priority);
  const at = (on: HookPoint): readonly CompleteHook[] => ordered.filter((hook) => hook.on === on);
  return {
    matches: (on, call = {}) => at(on).some((hook) => hook.matches(call)),
    run: (on, question) => runChain(at(on), question, { warn, secrets }),
  };
}

/** A hook with all defaults applied. */
interface CompleteHook extends Pick<HookDefinition, 'name' | 'on' | 'run'> {
  readonly priority: number;
  readonly timeoutMs: number;
  readonly onError: 'block' | 'allow';
  readonly matches: (call: FilteredCall) => boolean;
}

function complete(hook: HookDefinition): CompleteHook {
  const { name, on, run, priority = HOOK_LIMITS.priorityDefault, timeoutMs = HOOK_LIMITS.timeoutMsDefault, onError = 'block' } = hook;
  return { name, on, run, priority, timeoutMs, onError, matches: hookFilter(hook) };
}

async function runChain(
  hooks: readonly CompleteHook[],
  question: HookContext,
  { warn, secrets }: { readonly warn: (message: string) => void; readonly secrets: SecretMask },
): Promise<HookOutcome> {
  let now = question;
  let changes: (HookChanges & { readonly hook: string }) | undefined;
  for (const hook of hooks) {
    // matched here, because an earlier hook may have changed the path
    if (!hook.matches(now)) continue;
    const answer = maskAnswer(await runHook(hook, now), secrets);
    if (question.signal.aborted) return { action: 'block', hook: hook.name, reason: 'stopped before its hooks finished' };
    if ('failure' in answer) {
      warn(`hook ${hook.name} failed and counts as "${hook.onError}": ${answer.failure}`);
      if (hook.onError === 'allow') continue;
      return { action: 'block', hook: hook.name, reason: shown(`the hook failed: ${answer.failure}`) };
    }
    if (answer.action === 'modify') {
      const changed = changesOf(answer, now);
      changes = { ...changes, ...changed, hook: hook.name };
      now = { ...now, ...changed };
    } else if (answer.action !== 'allow') {
      return { action: answer.action, hook: hook.name, reason: shown(answer.reason) };
    }
  }
  return changes === undefined ? { action: 'allow' } : { action: 'modify', ...changes };
}

/** The decision of a hook, or why it failed. */
type HookAnswer = HookDecision | { readonly failure: string };

/** A hook may decide with what it read itself. Masked whole, because a cut could leave a part of a secret. */
function maskAnswer(answer: HookAnswer, secrets: SecretMask): HookAnswer {
  if ('failure' in answer) return { failure: shown(redact(secrets.text(answer.failure))) };
  if (answer.action === 'allow') return answer;
  if (answer.action !== 'modify') return { ...answer, reason: secrets.text(answer.reason) };
  const { args, output, request } = answer;
  return {
    ...answer,
    ...(args === undefined ? {} : { args: secrets.json(args) }),
    ...(output === undefined ? {} : { output: secrets.text(output) }),
    ...(request === undefined ? {} : { request: maskRequest(request, secrets) }),
  };
}

function maskRequest({ prompt, messages, ...rest }: Partial<HookRequest>, secrets: SecretMask): Partial<HookRequest> {
  return {
    ...rest,
    ...(prompt === undefined ? {} : { prompt: secrets.text(prompt) }),
    ...(messages === undefined ? {} : { messages: messages.map((message) => maskMessage(message, secrets)) }),
  };
}

async function runHook(hook: CompleteHook, question: HookContext): Promise<HookAnswer> {
  const timeout = AbortSignal.timeout(hook.timeoutMs);
  const signal = AbortSignal.any([question.signal, timeout]);
  try {
    const answer = await Promise.race([answerOf(hook, question, signal), rejectedBy(signal)]);
    return readHookAnswer(hook.on, answer);
  } catch (error) {
    if (timeout.aborted) return { failure: `it took longer than ${hook.timeoutMs} ms` };
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

/** Asynchronous, so that a synchronous throw becomes a rejection. Each hook gets its own copy, because transcripts are cached. */
async function answerOf(hook: CompleteHook, question: HookContext, signal: AbortSignal): Promise<unknown> {
  const { signal: _, ...data } = question;
  return await hook.run({ ...structuredClone(data), signal });
}

/** The changes of a decision. A partial request is merged into the current one. */
function changesOf({ args, output, request }: Extract<HookDecision, { action: 'modify' }>, now: HookContext): HookChanges {
  return {
    ...(args === undefined ? {} : { args }),
    ...(output === undefined ? {} : { output }),
    ...(request === undefined || now.request === undefined ? {} : { request: { ...now.request, ...request } }),
  };
}

function shown(reason: string): string {
  return cutMiddle(reason, DECISION_LIMITS.reasonCharsMax);
}
