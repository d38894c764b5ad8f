import type { WorkRecord } from '../../../contracts/schemas/carried-state.js';
import type { CompletionCheck, CompletionPolicy, RequiredPhase } from '../../../contracts/schemas/policy.js';

/** Whether the answer may end the run. `correction`: the text for the model. `told`: the record of corrections that includes this one. */
export type CompletionVerdict =
  | { readonly accept: true }
  | { readonly accept: false; readonly check: CompletionCheck; readonly correction: string; readonly told: WorkRecord['told'] };

const CHECKS: Readonly<Record<CompletionCheck, (policy: CompletionPolicy, work: WorkRecord) => string | undefined>> = {
  'plan-finished': unfinishedPlan,
  'edits-verified': unverifiedEdits,
  'phases-done': missingPhases,
};

const NAMED_MAX = 10;
/** The minimum of attempts after a failed version control command. */
const ATTEMPTS_AFTER_VERSION_CONTROL_ERROR = 2;

/**
 * Runs the built-in checks of a policy in order; the first that fails gives the correction. A run without tool calls is always accepted.
 * Pure; the caller counts the corrections. Never throws.
 */
export function checkCompletion(policy: CompletionPolicy, work: WorkRecord): CompletionVerdict {
  if (work.calls === 0) return { accept: true };
  for (const check of policy.checks) {
    const correction = CHECKS[check](policy, work);
    const told = { ...work.told, verify: work.told.verify || check === 'edits-verified' };
    if (correction !== undefined) return { accept: false, check, correction, told };
  }
  return { accept: true };
}

/** The maximum of corrections in a row: `attemptsMax`, and at least 2 after a failed version control command. 0 turns corrections off. */
export function completionAttempts({ attemptsMax }: CompletionPolicy, { versionControlFailed }: WorkRecord): number {
  return attemptsMax > 0 && versionControlFailed ? Math.max(attemptsMax, ATTEMPTS_AFTER_VERSION_CONTROL_ERROR) : attemptsMax;
}

function unfinishedPlan({ planTool }: CompletionPolicy, { openSteps }: WorkRecord): string | undefined {
  if (openSteps.length === 0) return undefined;
  return (
    `Your plan is not finished. Still open: ${listed(openSteps)}. ` +
    `Finish these steps, or update the plan with ${planTool} to match what was done, and then answer.`
  );
}

/** Corrects once in a run, because some edits need no verification. */
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
