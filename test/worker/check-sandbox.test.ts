import { describe, expect, it } from 'vitest';
import { working } from '../../src/process/sandbox/choose-sandbox.js';
import { checkSandbox } from '../../src/worker/self-check.js';

const kinds: string[] = [];
for await (const { kind } of working()) kinds.push(kind);

describe('doctor about the sandbox of commands', () => {
  it.skipIf(kinds.length === 0)('names the sandbox of this machine and the network of commands', async () => {
    expect(await checkSandbox({ config: {} })).toMatchObject({
      level: 'ok',
      detail: expect.stringMatching(new RegExp(`^(?:ba)?sh in a sandbox of ${kinds[0]}; network: none$`, 'u')),
    });
  });

  it.skipIf(kinds.length === 0)('warns of the network of the host, and lists allowed hosts', async () => {
    expect(await checkSandbox({ config: { sandbox: { network: 'host' } } })).toMatchObject({
      level: 'warn',
      detail: expect.stringContaining('commands can reach the Temporal server and every local port'),
    });
    expect(await checkSandbox({ config: { sandbox: { network: { allow: ['a.example.com', '*.b.example.com'] } } } })).toMatchObject({
      level: 'ok',
      detail: expect.stringContaining('network: a.example.com, *.b.example.com'),
    });
  });

  it('warns of commands without a sandbox', async () => {
    expect(await checkSandbox({ config: { sandbox: { mode: 'none' } } })).toMatchObject({
      level: 'warn',
      detail: 'commands run without a sandbox: they can do all that the user of this worker can',
      advice: "remove sandbox.mode 'none' from the config",
    });
  });
});
