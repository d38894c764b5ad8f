import type { WorkRecord } from '../../../contracts/schemas/carried-state.js';
import type { CompletionCheck, CompletionPolicy, RequiredPhase } from '../../../contracts/schemas/policy.js';

/** May the answer end the run? If not, `correction` is what the model reads, and `told` what it has been told with it. */
export type CompletionVerdict =
  | { readonly accept: true }
  | { readonly accept: false; readonly check: CompletionCheck; readonly correction: string; readonly told: WorkRecord['told'] };

const LOOKS: Readonly<Record<CompletionCheck, (policy: CompletionPolicy, work: WorkRecord) => string | undefined>> = {
  'plan-finished': unfinishedPlan,
  'edits-verified': unverifiedEdits,
  'phases-done': missingPhases,
};

const NAMED_MAX = 10;
/** After a failed command of version control the model is sent back this often, where it would be only once. */
const ATTEMPTS_AFTER_VERSION_CONTROL_ERROR = 2;

/**
 * Asks the built-in checks of a policy, in its order, whether the run may end; the first that objects is told. A run without any tool
 * call is a plain answer and always accepted. Pure; how often the model is sent back is the caller's to count. Never throws.
 */
export function checkCompletion(policy: CompletionPolicy, work: WorkRecord): CompletionVerdict {
  if (work.calls === 0) return { accept: true };
  for (const check of policy.checks) {
    const correction = LOOKS[check](policy, work);
    const told = { ...work.told, verify: work.told.verify || check === 'edits-verified' };
    if (correction !== undefined) return { accept: false, check, correction, told };
  }
  return { accept: true };
}

/** How often in a row this run's model may be sent back: the policy's own number, and once more than once where version control failed. */
export function completionAttempts({ attemptsMax }: CompletionPolicy, { versionControlFailed }: WorkRecord): number {
  return attemptsMax > 0 && versionControlFailed ? Math.max(attemptsMax, ATTEMPTS_AFTER_VERSION_CONTROL_ERROR) : attemptsMax;
}

function unfinishedPlan({ planTool }: CompletionPolicy, { openSteps }: WorkRecord): string | undefined {
  if (openSteps.length === 0) return undefined;
  return (
    `Your plan is not finished. Still open: ${listed(openSteps)}. ` +
    `Finish these steps, or bring the plan into line with what was really done with ${planTool}, and then answer.`
  );
}

/** Said once in a run: some edits need no second look. */
function unverifiedEdits(_: CompletionPolicy, { unverified, told }: WorkRecord): string | undefined {
  if (unverified.length === 0 || told.verify) return undefined;
  return (
    'Nothing was read, searched or run after the last edit. ' +
    `Verify what you changed (${listed(unverified)}): run the tests or read it again, and then answer.`
  );
}

function missingPhases(policy: CompletionPolicy, { phases }: WorkRecord): string | undefined {
  const missing = policy.phases.filter((_, position) => !phases.includes(position));
  if (missing.length === 0) return undefined;
  return (
    `A required part of the work is missing: ${listed(missing.map(describePhase))}. ` +
    'Do it now, and then answer. A call that failed does not count. If it cannot be done, try once more and say what happened.'
  );
}

function describePhase({ name, tools, command }: RequiredPhase): string {
  return `${name} (${tools.join(' or ')}${command === undefined ? '' : `: ${command}`})`;
}

function listed(names: readonly string[]): string {
  const more = names.length - NAMED_MAX;
  return more > 0 ? `${names.slice(0, NAMED_MAX).join('; ')} and ${more} more` : names.join('; ');
}
