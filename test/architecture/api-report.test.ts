import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { builtCli } from '../support/built-package.js';
import { apiReport } from './support/api-report.js';

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));
const DOORS = ['channels', 'client', 'contracts', 'define', 'streams', 'testing', 'worker', 'workflows'];

describe('the public doors', () => {
  it.each(DOORS)('%s exports what its report says; -u writes it anew when a change is meant', async (door) => {
    // the report is made of the build: an old one would prove nothing
    builtCli();
    const report = await apiReport(DIST, door);
    expect(report.length).toBeGreaterThan(100);
    await expect(report).toMatchFileSnapshot(`api/${door}.txt`);
  });
});
