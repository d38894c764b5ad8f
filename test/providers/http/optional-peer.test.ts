import { expect, it } from 'vitest';
import { loadPeer } from '../../../src/providers/http/optional-peer.js';

/** Not written where it is imported: no compiler looks for it. */
const NOBODYS_PACKAGE = 'a-package-that-nobody-has-installed';

it('loadPeer: a package that is not installed is one line with the command that installs it', async () => {
  await expect(loadPeer('some-sdk', () => import(NOBODYS_PACKAGE))).rejects.toMatchObject({
    type: 'Model.BadRequest',
    message: 'this provider needs a package that is not installed: npm install some-sdk',
  });
});

it('loadPeer: a package that breaks while it loads says so itself', async () => {
  const broken = new Error('broken');
  await expect(
    loadPeer('some-sdk', async () => {
      throw broken;
    }),
  ).rejects.toBe(broken);
});
