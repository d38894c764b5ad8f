import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { BudgetOptions, PolicyOptions } from '../../src/define/policy-options.js';

describe('docs/guards.md', () => {
  it('names every option of the judgement in its own place', async () => {
    const text = await readFile(new URL('../../docs/guards.md', import.meta.url), 'utf8');
    const options = [...optionsOf('', PolicyOptions), ...optionsOf('budget', BudgetOptions)];
    expect(options.length).toBeGreaterThan(25);
    expect(options.filter((option) => !new RegExp(`\`${option.replaceAll('.', '\\.')}\\b`, 'u').test(text))).toEqual([]);
  });
});

function optionsOf(path: string, group: z.ZodObject): string[] {
  return Object.entries(group.shape).flatMap(([name, field]) => {
    const here = path === '' ? name : `${path}.${name}`;
    const inner = field instanceof z.ZodOptional ? field.unwrap() : field;
    // what has exactly two parts is written with them in braces
    const isWritten = here === 'autoExtend' || here === 'output.exact';
    return inner instanceof z.ZodObject && !isWritten ? optionsOf(here, inner) : [here];
  });
}
