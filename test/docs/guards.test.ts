import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { DEFAULT_POLICY } from '../../src/contracts/schemas/policy.js';
import { BudgetOptions, PolicyOptions } from '../../src/define/policy-options.js';

let text: string;
beforeAll(async () => {
  text = await readFile(new URL('../../docs/guards.md', import.meta.url), 'utf8');
});

describe('docs/guards.md', () => {
  it('names every option of the judgement in its own place', () => {
    const options = [...optionsOf('', PolicyOptions), ...optionsOf('budget', BudgetOptions)];
    expect(options.length).toBeGreaterThan(25);
    expect(options.filter((option) => !new RegExp(`\`${option.replaceAll('.', '\\.')}\\b`, 'u').test(text))).toEqual([]);
  });

  it('the number in brackets behind an option is its default', () => {
    const shown = [...text.matchAll(/`(?<option>[\w.]+)`\s\((?<number>[\d.,]+)\)/gu)].map(({ groups }) => {
      return [groups?.['option'] ?? '', Number(groups?.['number']?.replaceAll(',', ''))] as const;
    });
    expect(shown.length).toBeGreaterThan(6);
    expect(shown.map(([option]) => [option, defaultOf(option)])).toEqual(shown);
  });
});

function defaultOf(option: string): unknown {
  return option
    .split('.')
    .reduce<unknown>((group, name) => (typeof group === 'object' && group !== null ? Reflect.get(group, name) : undefined), DEFAULT_POLICY);
}

function optionsOf(path: string, group: z.ZodObject): string[] {
  return Object.entries(group.shape).flatMap(([name, field]) => {
    const here = path === '' ? name : `${path}.${name}`;
    const inner = field instanceof z.ZodOptional ? field.unwrap() : field;
    // what has exactly two parts is written with them in braces
    const isWritten = here === 'autoExtend' || here === 'output.exact';
    return inner instanceof z.ZodObject && !isWritten ? optionsOf(here, inner) : [here];
  });
}
