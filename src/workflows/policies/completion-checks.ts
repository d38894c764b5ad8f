import { type JsonValue, type Message, textOf } from '../../contracts/message.js';
import type { CompletionCheck, CompletionPolicy, RequiredPhase } from '../../contracts/policy.js';
import type { Effect } from '../../contracts/tool.js';
import { type AnsweredCall, answeredCalls, fileOf, textArgument } from './answered-calls.js';

/** What the checks look at: the messages of this run, and what each of its tools does to the world. */
export interface CompletionFacts {
  readonly messages: readonly Message[];
  readonly effectOf: (tool: string) => Effect | undefined;
}

/** May the answer end the run? If not, `correction` is what the model reads. */
export type CompletionVerdict =
  | { readonly accept: true }
  | { readonly accept: false; readonly check: CompletionCheck; readonly correction: string };

type Look = (policy: CompletionPolicy, calls: readonly AnsweredCall[], facts: CompletionFacts) => string | undefined;

const ACCEPTED: CompletionVerdict = { accept: true };
const LOOKS: Readonly<Record<CompletionCheck, Look>> = {
  'plan-finished': unfinishedPlan,
  'edits-verified': unverifiedEdits,
  'phases-done': missingPhases,
};

const FINISHED: ReadonlySet<string> = new Set(['done', 'completed', 'complete', 'finished', 'cancelled', 'canceled', 'skipped', 'dropped']);
const NAMED_MAX = 10;
const NAME_CHARS_MAX = 120;
const VERIFY = 'Nothing was read, searched or run after the last edit';
/** After a failed command of version control the model is sent back this often, where it would be only once. */
const ATTEMPTS_AFTER_VERSION_CONTROL_ERROR = 2;

/**
 * Asks the built-in checks of a policy, in its order, whether the run may end; the first that objects is told. A run without any tool
 * call is a plain answer and always accepted. Pure; how often the model is sent back is the caller's to count. Never throws.
 */
export function checkCompletion(policy: CompletionPolicy, facts: CompletionFacts): CompletionVerdict {
  const calls = answeredCalls(facts.messages);
  if (calls.length === 0) return ACCEPTED;
  for (const check of policy.checks) {
    const correction = LOOKS[check](policy, calls, facts);
    if (correction !== undefined) return { accept: false, check, correction };
  }
  return ACCEPTED;
}

/** How often in a row this run's model may be sent back: the policy's own number, and once more than once where version control failed. */
export function completionAttempts(policy: CompletionPolicy, messages: readonly Message[]): number {
  const failed = answeredCalls(messages).some(({ call, ok }) => !ok && /^\s*git\b/u.test(textArgument(call, 'command') ?? ''));
  return policy.attemptsMax > 0 && failed ? Math.max(policy.attemptsMax, ATTEMPTS_AFTER_VERSION_CONTROL_ERROR) : policy.attemptsMax;
}

/** The plan is what the last successful call of the plan tool says. */
function unfinishedPlan({ planTool }: CompletionPolicy, calls: readonly AnsweredCall[]): string | undefined {
  const plan = calls.findLast(({ call, ok }) => ok && call.name === planTool);
  const open = plan ? stepsOf(plan.call.args).filter(({ status }) => !FINISHED.has(status)) : [];
  if (open.length === 0) return undefined;
  return (
    `Your plan is not finished. Still open: ${listed(open.map(({ text, status }) => `${text} (${status})`))}. ` +
    `Finish these steps, or bring the plan into line with what was really done with ${planTool}, and then answer.`
  );
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

/** An edit is a success of a tool that does not only read and names a file. Said once in a run: some edits need no second look. */
function unverifiedEdits({ planTool }: CompletionPolicy, calls: readonly AnsweredCall[], facts: CompletionFacts): string | undefined {
  const isEdit = ({ call, ok }: AnsweredCall): boolean => ok && mayWrite(call.name, facts) && fileOf(call) !== undefined;
  const lastEdit = calls.findLastIndex(isEdit);
  const wasLookedAt = calls.slice(lastEdit + 1).some(({ call, ok }) => {
    return call.name !== planTool && (ok || (mayWrite(call.name, facts) && fileOf(call) === undefined));
  });
  if (lastEdit === -1 || wasLookedAt || wasSaid(facts.messages)) return undefined;
  const files = calls.filter(isEdit).map(({ call }) => fileOf(call) ?? call.name);
  return `${VERIFY}. Verify what you changed (${listed(files)}): run the tests or read it again, and then answer.`;
}

/** False for a tool that nobody knows: its calls never ran. */
function mayWrite(tool: string, { effectOf }: CompletionFacts): boolean {
  const effect = effectOf(tool);
  return effect !== undefined && effect !== 'read';
}

function wasSaid(messages: readonly Message[]): boolean {
  return messages.some((message) => message.origin === 'correction' && textOf(message).includes(VERIFY));
}

function missingPhases({ phases }: CompletionPolicy, calls: readonly AnsweredCall[]): string | undefined {
  const missing = phases.filter((phase) => !calls.some((answered) => completes(answered, phase)));
  if (missing.length === 0) return undefined;
  return (
    `A required part of the work is missing: ${listed(missing.map(describePhase))}. ` +
    'Do it now, and then answer. A call that failed does not count. If it cannot be done, try once more and say what happened.'
  );
}

/** Any one of the phase's tools completes it; a tool that failed does not. */
function completes({ call, ok }: AnsweredCall, { tools, command }: RequiredPhase): boolean {
  if (!ok || !tools.includes(call.name)) return false;
  const given = textArgument(call, 'command')?.trim();
  return command === undefined || given === undefined || given === command || given.startsWith(`${command} `);
}

function describePhase({ name, tools, command }: RequiredPhase): string {
  return `${name} (${tools.join(' or ')}${command === undefined ? '' : `: ${command}`})`;
}

function listed(names: readonly string[]): string {
  const different = [...new Set(names.map((name) => (name.length > NAME_CHARS_MAX ? `${name.slice(0, NAME_CHARS_MAX)}…` : name)))];
  const more = different.length - NAMED_MAX;
  return more > 0 ? `${different.slice(0, NAMED_MAX).join('; ')} and ${more} more` : different.join('; ');
}

function isObject(value: JsonValue): value is Record<string, JsonValue> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
