import { describe, expect, it } from 'vitest';
import { SandboxDefinition } from '../../../src/define/worker/sandbox.js';

/** The paths of what is wrong. */
function problems(value: unknown): string[] {
  return SandboxDefinition.safeParse(value).error?.issues.map(({ path }) => path.join('.')) ?? [];
}

describe('the sandbox of a config', () => {
  it.each([
    {},
    { mode: 'none' },
    { network: 'host', writable: ['/srv/cache', '~/.npm'] },
    { network: { allow: ['api.example.com', '*.example.com', 'localhost:8080', '10.0.0.5', '[fd00::5]', '[fd00::5]:8443'] } },
  ])('%j is right', (value) => {
    expect(problems(value)).toEqual([]);
  });

  it.each([
    [{ mode: 'weak' }, 'mode'],
    [{ network: { allow: [] } }, 'network.allow'],
    [{ network: { allow: ['https://api.example.com'] } }, 'network.allow.0'],
    [{ network: { allow: ['api.example.com/path'] } }, 'network.allow.0'],
    [{ network: { allow: ['*'] } }, 'network.allow.0'],
    [{ network: 'all' }, 'network'],
    [{ writable: ['/'] }, 'writable.0'],
    [{ writable: ['cache'] }, 'writable.0'],
    [{ writable: ['~'] }, 'writable.0'],
    [{ writeable: [] }, ''],
  ])('%j is wrong at %s', (value, path) => {
    expect(problems(value)).toEqual([path]);
  });
});
