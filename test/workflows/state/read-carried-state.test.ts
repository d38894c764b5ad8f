import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CarriedState, type WrittenState } from '../../../src/contracts/schemas/carried-state.js';
import { readCarriedState } from '../../../src/workflows/state/carried-state.js';
import { readSavedStates } from '../../support/histories/saved-states.js';

/** One arbitrary for each field there may be: one that a schema gets and that is missing here does not compile. */
type Fields<T> = { readonly [Field in keyof T]-?: fc.Arbitrary<T[Field]> };

const saved = await readSavedStates();
const name = fc.string({ maxLength: 8 });
const flag = fc.boolean();
const count = fc.nat();
const names = few(name);

const usage = fc.record({
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  reasoningTokens: count,
});
const message = fc.record({
  id: name,
  role: fc.constantFrom('user', 'assistant', 'tool'),
  parts: few(fc.record({ type: fc.constant('text'), text: name })),
});
const hashed = fc.record({ message, hash: name });

const counters = partly<WrittenState['counters']>(
  {
    turn: count,
    toolCalls: count,
    corrections: count,
    truncatedAnswers: count,
    pausedAnswers: count,
    emptyAnswers: count,
    badJson: count,
    emptyStreams: count,
    thinking: count,
    gateAttempts: count,
    schemaAttempts: count,
    qualityCorrections: count,
    steers: count,
  },
  ['turn', 'toolCalls', 'truncatedAnswers', 'pausedAnswers', 'emptyAnswers', 'steers'],
);

const compaction = partly<NonNullable<WrittenState['compaction']>>({
  latchedUntil: count,
  count,
  failures: count,
  reported: fc.record({ tokens: count, messages: count, compactions: count }),
});

const work = partly<NonNullable<WrittenState['work']>>({
  calls: count,
  openSteps: names,
  unverified: names,
  phases: few(count),
  versionControlFailed: flag,
  reading: partly<NonNullable<NonNullable<WrittenState['work']>['reading']>>({
    turns: count,
    reads: few(fc.record({ signature: name, file: name, times: count })),
  }),
  told: partly<NonNullable<NonNullable<WrittenState['work']>['told']>>({ verify: flag, readingTurns: count, sameRead: flag }),
});

const turnInProgress = partly<NonNullable<WrittenState['turnInProgress']>>(
  {
    calls: few(fc.record({ type: fc.constant('tool_call'), callId: name, name, args: fc.dictionary(name, count) })),
    results: few(fc.option(hashed)),
    decisions: few(fc.option(fc.record({ decision: fc.constantFrom('allow', 'block', 'ask', 'abort'), by: name }))),
  },
  ['calls', 'results'],
);

const FIELDS: Fields<WrittenState> = {
  v: fc.constant(1),
  prepared: fc.constant({
    setup: { agent: 'default', prompt: '', tools: [] },
    setupHash: '',
    configHash: '',
    model: 'a/b',
    maxTurns: 20,
    contextWindow: 128_000,
    searchAttributes: [],
  }),
  transcript: few(hashed),
  chain: fc.record({ length: count, digest: name }),
  inherits: fc.record({
    runId: name,
    executionId: name,
    length: count,
    digest: name,
    bytes: count,
    tokens: count,
    runs: fc.constant(1),
    since: count,
  }),
  caps: partly<WrittenState['caps']>({ maxTurns: count, maxTokens: count, maxCostUsd: count, deadlineMs: count }, ['maxTurns']),
  counters,
  warned: flag,
  paused: flag,
  workedMs: count,
  usage: partly<WrittenState['usage']>(
    { total: usage, last: usage, costUsd: count, sampled: fc.record({ requests: count, usage, costUsd: count }) },
    ['total'],
  ),
  models: names,
  route: partly<NonNullable<WrittenState['route']>>(
    {
      candidates: few(fc.record({ model: name, credentials: names, contextWindow: count })),
      usageEstimated: flag,
      cooldowns: few(fc.record({ key: name, until: count, failures: count, why: name })),
      current: name,
      switches: few(fc.record({ turn: count, from: name, to: name, why: name })),
      byModel: few(fc.record({ model: name, calls: count, usage })),
      thinkingOff: flag,
    },
    ['cooldowns', 'switches', 'byModel'],
  ),
  inbox: few(fc.record({ id: name, text: name })),
  seenIds: names,
  steers: few(fc.record({ id: name, state: fc.constantFrom('queued', 'delivered', 'expired') })),
  hold: fc.record({ until: count, by: name }),
  approvals: fc.constant({ pending: [], decided: [] }),
  loop: partly<NonNullable<WrittenState['loop']>>({ turns: few(fc.record({ signature: name, shape: name, result: name })) }),
  guards: fc.dictionary(name, fc.record({ turns: count })),
  isRepeating: flag,
  compaction,
  memo: few(fc.tuple(name, name)),
  steps: few(fc.record({ agent: name, index: count, status: fc.constantFrom('running', 'success'), started: count, group: name })),
  work,
  unknownOutcomes: names,
  lastDecision: name,
  tenant: fc.record({ n: count, hasAsked: flag, hasPlace: flag }),
  subagents: fc.record(
    {
      started: few(fc.tuple(name, count)),
      live: few(fc.record({ runId: name, executionId: name, agent: name, callId: name, share: fc.constant({}), background: flag })),
      ended: few(fc.record({ runId: name, agent: name, reason: name, usage })),
      arrived: few(fc.record({ callId: name, runId: name, ending: name, output: name })),
      answered: flag,
    },
    { requiredKeys: ['started', 'live', 'ended'] },
  ),
  handoffs: fc.record({ agents: names }),
  questions: fc.record({
    pending: few(fc.record({ callId: name, question: name, choices: names, askedBy: name, turn: count, since: name, expires: name })),
    answered: few(fc.record({ callId: name, outcome: fc.constantFrom('answered', 'declined'), by: name, since: name, at: name })),
  }),
  sleeps: few(fc.record({ callId: name, from: count, until: count })),
  parentContinued: fc.constant(true),
  events: fc.record({ seq: count, kept: few(fc.dictionary(name, count)) }),
  turnInProgress,
};

/** What every build wrote. */
const FIRST = [
  'v',
  'prepared',
  'transcript',
  'chain',
  'caps',
  'counters',
  'warned',
  'paused',
  'workedMs',
  'usage',
  'models',
  'inbox',
  'seenIds',
  'events',
] as const;

describe('readCarriedState', () => {
  it.each(saved)('reads $file as the schema does', ({ state }) => {
    expect(readAny(state)).toEqual(CarriedState.parse(state));
  });

  it('reads whatever a build wrote as the schema does, also where fields came later', () => {
    fc.assert(
      fc.property(partly(FIELDS, FIRST), (state) => {
        const travelled: unknown = JSON.parse(JSON.stringify(state));
        expect(readAny(travelled)).toEqual(CarriedState.parse(travelled));
      }),
      { numRuns: 1_000 },
    );
  });

  const [whole = {}] = fc.sample(fc.record(FIELDS), 1).map((state): Record<string, unknown> => JSON.parse(JSON.stringify(state)));

  it.each(Object.keys(CarriedState.shape))('without %s it refuses what the schema refuses', (field) => {
    const { [field]: _, ...others } = whole;
    expect(refuses(others)).toBe(!CarriedState.safeParse(others).success);
  });

  it.each(Object.keys(CarriedState.shape))('of another kind, %s is refused by both', (field) => {
    for (const other of OF_ALL_KINDS.filter((value) => kindOf(value) !== kindOf(whole[field]))) {
      const given = { ...whole, [field]: other };
      expect([refuses(given), CarriedState.safeParse(given).success]).toEqual([true, false]);
    }
  });

  it.each([
    ['another version', { ...whole, v: 2 }, 'its version is 2, not 1'],
    ['a version as text', { ...whole, v: '1' }, 'its version is "1", not 1'],
    ['a field of a later build', { ...whole, later: 1 }, 'later is an unknown field'],
    ['a state cut short', { v: 1 }, 'prepared is missing'],
    ['nothing', null, 'its version is undefined, not 1'],
    ['a list', [whole], 'its version is undefined, not 1'],
    ['a text', 'state', 'its version is undefined, not 1'],
  ])('refuses %s, and says so', (_, given, said) => {
    expect(() => readAny(given)).toThrow(said);
    expect(CarriedState.safeParse(given).success).toBe(false);
  });
});

const OF_ALL_KINDS = [null, 7, 'text', true, [], {}];

function kindOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
}

/** A state comes from the server: it may be anything. */
function readAny(state: unknown): CarriedState {
  return readCarriedState(state as WrittenState);
}

function refuses(state: unknown): boolean {
  try {
    readAny(state);
    return false;
  } catch (error) {
    if (String(error).includes('the carried state cannot be read')) return true;
    throw error;
  }
}

function few<T>(one: fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return fc.array(one, { maxLength: 3 });
}

/** Objects of which only the `required` fields are always there. */
function partly<T extends object>(fields: Fields<T>, required: readonly (keyof T)[] = []): fc.Arbitrary<T> {
  return fc.record(fields, { requiredKeys: [...required] });
}
