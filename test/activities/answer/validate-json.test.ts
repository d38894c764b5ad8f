import { describe, expect, it } from 'vitest';
import { checkJson } from '../../../src/activities/answer/validate-json.js';
import { OUTPUT_SCHEMA_LIMITS } from '../../../src/contracts/constants/limits.js';

const NEVER = new AbortController().signal;

/** A check that ends only with its time limit or its signal. */
const runAway = (signal: AbortSignal) => checkJson('a'.repeat(40), { pattern: '^(a+)+$x' }, signal);

describe('checkJson', () => {
  it.each([
    [{ $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] }, ['a', 1], [1]],
    [{ prefixItems: [{ type: 'string' }], items: false }, ['a'], ['a', 1]],
    [{ $defs: { n: { type: 'integer' } }, properties: { a: { $ref: '#/$defs/n' } } }, { a: 1 }, { a: 1.5 }],
    [{ properties: { child: { $ref: '#' } }, additionalProperties: false }, { child: { child: {} } }, { child: { chil: {} } }],
    [{ dependentRequired: { kind: ['size'] } }, { size: 1 }, { kind: 'a' }],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, null, 3],
    [{ type: 'string', format: 'email' }, 'a@example.com', 'nobody'],
    [
      { uniqueItems: true },
      [{ a: 1, b: 2 }, {}],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
  ])('%j takes %j and not %j', async (schema, good, bad) => {
    expect(await checkJson(good, schema, NEVER)).toEqual([]);
    expect((await checkJson(bad, schema, NEVER)).length).toBeGreaterThan(0);
  });

  it('of a nested problem only the cause is told, with its place', async () => {
    const schema = { properties: { list: { items: { properties: { n: { type: 'number' } } } } } };
    expect(await checkJson({ list: [{ n: 1 }, { n: 'x' }] }, schema, NEVER)).toEqual([
      '/list/1/n: Instance type "string" is invalid. Expected "number".',
    ]);
  });

  it(`of many problems ${OUTPUT_SCHEMA_LIMITS.problemsShown} are told`, async () => {
    const many = Array.from({ length: 5_000 }, () => 'x');
    expect(await checkJson(many, { items: { type: 'number' } }, NEVER)).toHaveLength(OUTPUT_SCHEMA_LIMITS.problemsShown);
  });

  it('X32: a pattern that runs away is a problem after a second, and meanwhile the worker goes on', async () => {
    const startedAt = performance.now();
    const before = performance.eventLoopUtilization();
    const [problem] = await runAway(NEVER);
    const { active } = performance.eventLoopUtilization(before);
    expect(problem).toBe('the answer could not be checked against the schema: it took longer than 1000 ms');
    expect(performance.now() - startedAt).toBeLessThan(10 * OUTPUT_SCHEMA_LIMITS.checkMsMax);
    // the time that this thread worked: a stall of the machine while it waited is none of it
    expect(active).toBeLessThan(OUTPUT_SCHEMA_LIMITS.checkMsMax / 2);
  });

  it('X32: a schema that asks for millions of problems costs the worker next to nothing', async () => {
    const before = process.memoryUsage().heapUsed;
    const many = Array.from({ length: 16_000 }, () => 1);
    const [problem] = await checkJson(many, { items: { allOf: Array.from({ length: 2_000 }, () => ({ type: 'string' })) } }, NEVER);
    expect(problem).toContain('could not be checked');
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(32 * 1_024 * 1_024);
  });

  it('a check that is stopped ends at once', async () => {
    const other = new AbortController();
    // the other one began earlier, and ends after the time limit
    const ends = [runAway(other.signal), runAway(AbortSignal.abort())];
    expect(await Promise.race(ends)).toEqual([expect.stringContaining('stopped')]);
    other.abort();
    await Promise.all(ends);
  });

  it('a schema that refers to itself without end is a problem, not a crash', async () => {
    expect((await checkJson({}, { $ref: '#' }, NEVER))[0]).toContain('could not be checked');
  });

  it('a schema is not changed by checking with it', async () => {
    const schema = { $defs: { n: { type: 'number' } }, $ref: '#/$defs/n' };
    const before = structuredClone(schema);
    await checkJson(1, schema, NEVER);
    expect(Reflect.ownKeys(schema)).toEqual(Reflect.ownKeys(before));
    expect(Reflect.ownKeys(schema.$defs.n)).toEqual(['type']);
  });
});
