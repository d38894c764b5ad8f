import { expect, it } from 'vitest';
import { SecretMask } from '../../../src/contracts/text/secret-mask.js';
import { CallLines } from '../../../src/worker/hosting/call-lines.js';

const PEM = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----';
const KEY = 'sk-planted-0123456789abcdef';
const CALL = { runId: 'r', activity: 'callTool' };

/** What a receiver gets of pieces that a call writes. */
function received(...pieces: readonly string[]): string[] {
  const texts: string[] = [];
  const lines = new CallLines();
  const secrets = new SecretMask(() => [
    { name: 'env:PEM', value: PEM },
    { name: 'env:KEY', value: KEY },
  ]);
  lines.receive(({ text }) => texts.push(text), secrets);
  for (const piece of pieces) lines.add(CALL, 'stdout', Buffer.from(piece));
  lines.end(CALL);
  return texts;
}

it('a secret of several lines is masked as a whole, before what a call prints is cut into lines', () => {
  expect(received(`bad key: ${PEM}\nnext\n`)).toEqual(['bad key: [secret env:PEM]', 'next']);
});

it('a secret at the place where a line without an end is cut is masked', () => {
  const texts = received(`${'x'.repeat(9_000)}${KEY.slice(0, 12)}`, `${KEY.slice(12)}${'y'.repeat(9_000)}\n`);
  expect(texts.join('')).toBe(`${'x'.repeat(9_000)}[secret env:KEY]${'y'.repeat(9_000)}`);
});

it('what looks like the beginning of a secret is printed once its call ends', () => {
  expect(received('first\nsk-plan')).toEqual(['first', 'sk-plan']);
});
