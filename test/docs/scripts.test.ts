import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { Script, ScriptStep } from '../../src/providers/scripted/script.js';
import { ScriptFault } from '../../src/providers/scripted/script-fault.js';
import { parseScript } from '../../src/providers/scripted/script-file.js';

describe('docs/scripts.md', () => {
  let text: string;
  beforeAll(async () => {
    text = await readFile(new URL('../../docs/scripts.md', import.meta.url), 'utf8');
  });

  it('shows scripts that can be played', () => {
    const examples = [...text.matchAll(/```yaml\n(?<script>.*?)```/gsu)].map(({ groups }) => groups?.['script'] ?? '');
    expect(examples.map((example) => parseScript(example, 'docs').steps.length)).toEqual([2, 3]);
  });

  it('has a row for each field of a script and of a step, and no other', () => {
    expect(rowsUnder('The file')).toEqual(Object.keys(Script.shape).toSorted());
    expect(rowsUnder('A step')).toEqual(Object.keys(ScriptStep.shape).toSorted());
  });

  it('has a row for each kind of fault', () => {
    const rows = [...section('Faults').matchAll(/^\| `\{ (?<fields>[^`]*) \}`/gmu)].map(({ groups }) => fieldsOf(groups?.['fields'] ?? ''));
    const faults = ScriptFault.options.map((fault) => Object.keys(fault.shape).filter((name) => name !== 'times'));
    expect(rows.map((fields) => fields.toSorted())).toEqual(faults.map((fields) => fields.toSorted()));
  });

  function rowsUnder(title: string): string[] {
    return [...section(title).matchAll(/^\| `(?<name>\w+)` \|/gmu)].map(({ groups }) => groups?.['name'] ?? '').toSorted();
  }

  function section(title: string): string {
    return text.split(/^## /mu).find((part) => part.startsWith(`${title}\n`)) ?? '';
  }
});

function fieldsOf(text: string): string[] {
  return text.split(', ').map((field) => field.replace(/\?|: true/gu, ''));
}
