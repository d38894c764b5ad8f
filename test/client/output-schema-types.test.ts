import { beforeAll, describe, expect, it } from 'vitest';
import { typeCheck } from '../docs/support/type-check.js';

const START = `
import type { AgentClient } from 'perdure/client';
import { executeAgent, startAgent } from 'perdure/workflows';
import { z } from 'zod';

declare const client: AgentClient;
const Verdict = z.strictObject({ approved: z.boolean(), reason: z.string().optional() });
type Same<A, B> = [A, B] extends [B, A] ? true : false;
function same<A, B>(_: Same<A, B>): void {}
type Given = { approved: boolean; reason?: string | undefined } | undefined;
`;

/** A module each; all are one program of the compiler, which takes long to start. */
const MODULES = {
  zod: `
      const { run } = await client.start({ task: 'x', outputSchema: Verdict });
      const { structured } = await run.result();
      same<typeof structured, Given>(true);
      const child = await executeAgent({ task: 'x', outputSchema: Verdict });
      same<typeof child.structured, Given>(true);
      const handle = await startAgent({ task: 'x', outputSchema: Verdict });
      const ofHandle = await handle.result();
      same<typeof ofHandle.structured, Given>(true);
      const next = await run.continue({ outputSchema: z.strictObject({ total: z.number() }) });
      const continued = await next.run.result();
      same<typeof continued.structured, { total: number } | undefined>(true);
    `,
  json: `
      import type { JsonValue, RunResult } from 'perdure/contracts';
      const { run } = await client.start({ task: 'x', outputSchema: { type: 'object', required: ['approved'] } });
      const result: RunResult = await run.result();
      same<typeof result.structured, JsonValue | undefined>(true);
      const plain = await (await client.start({ task: 'x' })).run.result();
      same<typeof plain.structured, JsonValue | undefined>(true);
      const known = await client.get<z.input<typeof Verdict>>('r-1').result();
      same<typeof known.structured, Given>(true);
    `,
  wrong: `
      const { run } = await client.start({ task: 'x', outputSchema: Verdict });
      const { structured } = await run.result();
      same<typeof structured, { approved: string } | undefined>(true);
    `,
};

describe('D1: the type of result.structured', () => {
  let messages: readonly string[];
  beforeAll(async () => {
    messages = await typeCheck(Object.fromEntries(Object.entries(MODULES).map(([name, code]) => [name, START + code])));
  });
  const except = (...names: readonly string[]) => messages.filter((line) => !names.some((name) => line.includes(`examples/${name}.ts`)));

  it('follows the zod schema of client.start, executeAgent and startAgent', () => {
    expect(except('json', 'wrong')).toEqual([]);
  });

  it('is any JSON for a JSON Schema and without a schema, and what the caller names for a run that is looked up', () => {
    expect(except('zod', 'wrong')).toEqual([]);
  });

  it('the check sees a wrong type', () => {
    expect(except('zod', 'json')).toHaveLength(1);
  });
});
