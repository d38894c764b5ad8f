import type { CarriedState, WrittenState } from '../../contracts/schemas/carried-state.js';

/**
 * Reads the state that an earlier execution of the run carried over, with the result of its schema: a field that an older build did not
 * write gets its initial value. It does not use the schema, because each workflow of a worker would build its own copy of it. Throws for
 * a different version, an unknown field, or a missing field that every build wrote. The workflow task then fails, and the run waits for
 * a worker of a suitable build.
 */
export function readCarriedState(state: WrittenState): CarriedState {
  const problem = problemOf(state);
  if (problem !== undefined) throw new Error(`the carried state cannot be read: ${problem}; start a worker of the build that wrote it`);
  const { counters, route, steers, approvals, loop, isRepeating, compaction, memo, steps, work, turnInProgress, ...others } = state;
  return {
    ...others,
    counters: readCounters(counters),
    route: route ?? { cooldowns: [], switches: [], byModel: [] },
    steers: steers ?? [],
    approvals: approvals ?? { pending: [], decided: [] },
    loop: { turns: loop?.turns ?? [] },
    isRepeating: isRepeating ?? false,
    compaction: readCompaction(compaction),
    memo: memo ?? [],
    steps: steps ?? [],
    work: readWork(work),
    ...(turnInProgress === undefined ? {} : { turnInProgress: { ...turnInProgress, decisions: turnInProgress.decisions ?? [] } }),
  };
}

function readCounters(counters: WrittenState['counters']): CarriedState['counters'] {
  return {
    ...counters,
    corrections: counters.corrections ?? 0,
    badJson: counters.badJson ?? 0,
    emptyStreams: counters.emptyStreams ?? 0,
    thinking: counters.thinking ?? 0,
    gateAttempts: counters.gateAttempts ?? 0,
    schemaAttempts: counters.schemaAttempts ?? 0,
    qualityCorrections: counters.qualityCorrections ?? 0,
  };
}

function readCompaction(compaction: WrittenState['compaction'] = {}): CarriedState['compaction'] {
  const { latchedUntil, count, failures } = compaction;
  return { ...compaction, latchedUntil: latchedUntil ?? 0, count: count ?? 0, failures: failures ?? 0 };
}

function readWork(work: WrittenState['work'] = {}): CarriedState['work'] {
  const { reading, told } = work;
  return {
    calls: work.calls ?? 0,
    openSteps: work.openSteps ?? [],
    unverified: work.unverified ?? [],
    phases: work.phases ?? [],
    versionControlFailed: work.versionControlFailed ?? false,
    reading: { turns: reading?.turns ?? 0, reads: reading?.reads ?? [] },
    told: { verify: told?.verify ?? false, readingTurns: told?.readingTurns ?? 0, sameRead: told?.sameRead ?? false },
  };
}

type Kind = 'array' | 'boolean' | 'number' | 'object' | 'string';

/** The fields that every build wrote. */
const FIRST_FIELDS = {
  v: 'number',
  prepared: 'object',
  transcript: 'array',
  chain: 'object',
  caps: 'object',
  counters: 'object',
  warned: 'boolean',
  paused: 'boolean',
  workedMs: 'number',
  usage: 'object',
  models: 'array',
  inbox: 'array',
  seenIds: 'array',
  events: 'object',
} as const satisfies Partial<Record<keyof CarriedState, Kind>>;

const FIELDS: Readonly<Record<keyof CarriedState, Kind>> = {
  ...FIRST_FIELDS,
  inherits: 'object',
  route: 'object',
  steers: 'array',
  hold: 'object',
  approvals: 'object',
  loop: 'object',
  guards: 'object',
  isRepeating: 'boolean',
  compaction: 'object',
  memo: 'array',
  steps: 'array',
  work: 'object',
  unknownOutcomes: 'array',
  lastDecision: 'string',
  tenant: 'object',
  subagents: 'object',
  handoffs: 'object',
  questions: 'object',
  sleeps: 'array',
  parentContinued: 'boolean',
  turnInProgress: 'object',
};

/** Why this build cannot read the state; undefined when it can. Only the kinds of the fields are checked, not their content. */
function problemOf(state: unknown): string | undefined {
  const given = new Map<string, unknown>(Object.entries(state ?? {}));
  if (given.get('v') !== 1) return `its version is ${JSON.stringify(given.get('v'))}, not 1`;
  const missing = Object.keys(FIRST_FIELDS).find((field) => given.get(field) === undefined);
  if (missing !== undefined) return `${missing} is missing`;
  const kinds = new Map<string, Kind>(Object.entries(FIELDS));
  const wrong = [...given].find(([field, value]) => value !== undefined && kindOf(value) !== kinds.get(field));
  return wrong && `${wrong[0]} is ${kindProblem(kinds.get(wrong[0]))}`;
}

function kindProblem(kind: Kind | undefined): string {
  return kind === undefined ? 'an unknown field' : `not of type ${kind}`;
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return value === null ? 'null' : typeof value;
}
