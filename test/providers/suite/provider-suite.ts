import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ANSWER_CASES, type AnswerCase } from './answer-cases.js';
import { CUT_CASES } from './cut-cases.js';
import { FAULT_CASES, type FaultCase } from './fault-cases.js';
import type { ProviderSubject, ScriptedSubject } from './provider-subject.js';

/** Some cases ask hundreds of times, on a machine that may be busy. */
const CASE_TIMEOUT_MS = 120_000;

const SCRIPTED_CASES = { ...FAULT_CASES, ...CUT_CASES } as const;

/** The name of a case, as a fixture names what it cannot do. */
export type CaseId = keyof typeof ANSWER_CASES | keyof typeof SCRIPTED_CASES;

/** A provider with a server of ours at its far end. */
export interface ScriptedFixture {
  readonly start: () => Promise<ScriptedSubject>;
  /** Cases that must fail over this provider, each with its reason: one that holds after all is found. */
  readonly cannot?: Readonly<Partial<Record<CaseId, string>>>;
}

/** A provider with a real model at its far end: only what holds of any model is asked. */
export interface RealFixture {
  readonly start: () => Promise<ProviderSubject>;
  /** Cases that are not asked, each with its reason. */
  readonly leftOut?: Readonly<Partial<Record<keyof typeof ANSWER_CASES, string>>>;
}

/** All that every provider must do, as tests over one of them; what it cannot do is shown to fail, and printed. */
export function providerSuite(name: string, { start, cannot = {} }: ScriptedFixture): void {
  const cases: Readonly<Record<CaseId, FaultCase>> = { ...ANSWER_CASES, ...SCRIPTED_CASES };
  describe(`the provider suite over ${name}`, () => {
    let subject: ScriptedSubject | undefined;
    beforeAll(async () => {
      subject = await start();
    });
    afterAll(async () => {
      tell(name, Object.keys(cases).length, cannot);
      // a fixture that did not start has nothing to end
      await subject?.close?.();
      await subject?.server.close();
    });
    const [holds, fails] = [namesOf(cases).filter((id) => !(id in cannot)), namesOf(cannot)];
    it.each(holds.map((id) => [`${id}: ${cases[id].claim}`, cases[id]] as const))(
      '%s',
      { timeout: CASE_TIMEOUT_MS },
      async (_, { run }) => {
        await expect(run(started(subject))).resolves.toBeUndefined();
      },
    );
    it.fails.each(fails.map((id) => [`${id} does not hold: ${cannot[id]}`, cases[id]] as const))(
      '%s',
      { timeout: CASE_TIMEOUT_MS },
      async (_, { run }) => {
        await expect(run(started(subject))).resolves.toBeUndefined();
      },
    );
  });
}

/** The part of the suite that any real model can be asked, with nothing played. */
export function realModelSuite(name: string, { start, leftOut = {} }: RealFixture): void {
  const cases: Readonly<Record<keyof typeof ANSWER_CASES, AnswerCase>> = ANSWER_CASES;
  describe(`the provider suite over ${name}`, () => {
    let subject: ProviderSubject | undefined;
    beforeAll(async () => {
      subject = await start();
    });
    afterAll(async () => {
      tell(name, Object.keys(cases).length, leftOut);
      await subject?.close?.();
    });
    const asked = namesOf(cases).filter((id) => !(id in leftOut));
    it.each(asked.map((id) => [`${id}: ${cases[id].claim}`, cases[id]] as const))('%s', async (_, { run }) => {
      await expect(run(started(subject))).resolves.toBeUndefined();
    });
  });
}

function started<Subject>(subject: Subject | undefined): Subject {
  if (subject === undefined) throw new Error('the fixture did not start');
  return subject;
}

function tell(name: string, cases: number, exceptions: Readonly<Partial<Record<string, string>>>): void {
  const lines = Object.entries(exceptions).map(([id, why]) => `\n  but ${id}: ${why}`);
  console.info(`${name}: ${cases - lines.length} of ${cases} cases${lines.join('')}`);
}

function namesOf<Name extends string>(table: Readonly<Partial<Record<Name, unknown>>>): Name[] {
  // the tables are literals: they have no other keys
  return Object.keys(table) as Name[];
}
