import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { RUN_LIMITS } from '../../src/contracts/constants/limits.js';
import { DEFAULT_POLICY, GateRule } from '../../src/contracts/schemas/policy.js';
import { PRESETS, type Preset, PresetName } from '../../src/define/presets.js';

const COLUMNS = ['setting', 'default', ...PresetName.options];

/** What stands in a cell of a preset that leaves a setting as it is. */
const AS_IT_IS = '·';

describe('docs/presets.md', () => {
  it('has a column for the default and for each preset', async () => {
    expect((await table())[0]).toEqual(COLUMNS);
  });

  it('has a row for each setting that a preset sets, and says what it is there and by default', async () => {
    const [, , ...rows] = await table();
    const presets = PresetName.options.map((name) => settingsOf(PRESETS[name]));
    const settings = [...new Set(presets.flatMap((preset) => [...preset.keys()]))];
    const defaults = settingsOf({ maxTurns: RUN_LIMITS.maxTurnsDefault, gate: DEFAULT_POLICY.gate, policy: DEFAULT_POLICY });
    const expected = settings.map((name) => [name, defaults.get(name) ?? 'none', ...presets.map((preset) => preset.get(name) ?? AS_IT_IS)]);
    expect(rows.toSorted(bySetting)).toEqual(expected.toSorted(bySetting));
  });
});

async function table(): Promise<string[][]> {
  const text = await readFile(new URL('../../docs/presets.md', import.meta.url), 'utf8');
  const lines = text.split('\n').filter((line) => line.startsWith('|'));
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

/** The settings of a preset by their names in an agent's definition, each as it reads in the table. */
function settingsOf({ policy, ...others }: Preset): Map<string, string> {
  return new Map([...flat('', others), ...flat('', policy)]);
}

function flat(path: string, value: unknown): [string, string][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[path, textOf(value)]];
  return Object.entries(value).flatMap(([name, inner]) => flat(path === '' ? name : `${path}.${name}`, inner));
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(itemText).join(', ');
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return typeof value === 'number' ? value.toLocaleString('en') : String(value);
}

function itemText(item: unknown): string {
  const rule = GateRule.safeParse(item);
  return rule.success ? `${rule.data.decision} ${rule.data.command}` : String(item);
}

function bySetting([a = '']: readonly string[], [b = '']: readonly string[]): number {
  return a < b ? -1 : 1;
}
