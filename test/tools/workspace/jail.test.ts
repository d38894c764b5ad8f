import { once } from 'node:events';
import { rename, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { readFile } from '../../../src/tools/read-file.js';
import { type Jail, openFile, openJail } from '../../../src/tools/workspace/jail.js';
import { readText } from '../../../src/tools/workspace/read-lines.js';
import { makePipe, SECRET, tempWorkspace } from '../support/temp-workspace.js';

describe('the jail of the workspace tools', () => {
  test.each([
    ['../outside/secret.txt', 'OUTSIDE_WORKSPACE'],
    ['a/../../outside/secret.txt', 'OUTSIDE_WORKSPACE'],
    ['/etc/passwd', 'OUTSIDE_WORKSPACE'],
    ['~', 'OUTSIDE_WORKSPACE'],
    ['~/.ssh/id_rsa', 'OUTSIDE_WORKSPACE'],
    ['~root/.bashrc', 'OUTSIDE_WORKSPACE'],
    ['/proc/self/environ', 'OUTSIDE_WORKSPACE'],
    ['/dev/zero', 'OUTSIDE_WORKSPACE'],
    ['link-to-file', 'OUTSIDE_WORKSPACE'],
    ['link-to-folder/secret.txt', 'OUTSIDE_WORKSPACE'],
    ['link-to-proc', 'OUTSIDE_WORKSPACE'],
    ['link-to-zero', 'OUTSIDE_WORKSPACE'],
    ['loop', 'NOT_A_FILE'],
    ['%2e%2e/outside/secret.txt', 'NOT_FOUND'],
    ['a.txt\0.png', 'BAD_PATH'],
    ['x'.repeat(5_000), 'BAD_PATH'],
    ['.', 'NOT_A_FILE'],
    ['folder', 'NOT_A_FILE'],
    ['folder/none', 'NOT_FOUND'],
    ['a.txt/b', 'NOT_A_FOLDER'],
    ['.perdure/server.json', 'DENIED'],
    ['folder/.perdure/server.json', 'DENIED'],
    ['link-to-state/server.json', 'DENIED'],
  ])('B41, X9: reading %j is refused as %s', async (path, code) => {
    const workspace = await tempWorkspace();
    await workspace.put('a.txt', 'text');
    await workspace.put('folder/.perdure/server.json', SECRET);
    await workspace.put('.perdure/server.json', SECRET);
    await symlink(join(workspace.outside, 'secret.txt'), join(workspace.root, 'link-to-file'));
    await symlink('../outside', join(workspace.root, 'link-to-folder'));
    await symlink('/proc/self/environ', join(workspace.root, 'link-to-proc'));
    await symlink('/dev/zero', join(workspace.root, 'link-to-zero'));
    await symlink('loop', join(workspace.root, 'loop'));
    await symlink('.perdure', join(workspace.root, 'link-to-state'));
    await expect(readFile.execute({ path }, workspace.context())).rejects.toThrow(new RegExp(`^${code}: `, 'u'));
  });

  test('B41: a pipe is refused without waiting for its other end', async () => {
    const workspace = await tempWorkspace();
    makePipe(join(workspace.root, 'pipe'));
    await expect(readFile.execute({ path: 'pipe' }, workspace.context())).rejects.toThrow(
      /^NOT_A_FILE: "pipe" is a pipe, socket or device/u,
    );
  });

  test('B41: a socket is refused', async () => {
    const workspace = await tempWorkspace();
    const server = createServer().listen(join(workspace.root, 'socket'));
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    await expect(readFile.execute({ path: 'socket' }, workspace.context())).rejects.toThrow(/^NOT_A_FILE: /u);
  });

  test('links and absolute paths that stay inside are followed', async () => {
    const workspace = await tempWorkspace();
    await workspace.put('docs/a.txt', 'inside');
    await symlink('docs', join(workspace.root, 'link'));
    await symlink(workspace.root, join(workspace.outside, 'alias'));
    for (const path of ['link/a.txt', 'docs/../docs/a.txt', join(workspace.root, 'docs/a.txt'), './docs//a.txt']) {
      expect(await readFile.execute({ path }, workspace.context())).toBe('inside');
    }
    const alias = join(workspace.outside, 'alias');
    expect(await readFile.execute({ path: join(alias, 'docs/a.txt') }, { ...workspace.context(), workspace: alias })).toBe('inside');
  });

  test('a state folder under another name is closed too', async () => {
    const workspace = await tempWorkspace();
    await workspace.put('state/server.json', SECRET);
    vi.stubEnv('PERDURE_DIR', join(workspace.root, 'state'));
    onTestFinished(() => void vi.unstubAllEnvs());
    await expect(readFile.execute({ path: 'state/server.json' }, workspace.context())).rejects.toThrow(/^DENIED: /u);
  });

  test('a call without a workspace, with one that is gone, or with one in the state folder is told so', async () => {
    const workspace = await tempWorkspace();
    await expect(openJail(undefined)).rejects.toThrow(/^NO_WORKSPACE: this run has no workspace/u);
    await expect(openJail(join(workspace.root, 'gone'))).rejects.toThrow(/^NO_WORKSPACE: .* does not exist/u);
    vi.stubEnv('PERDURE_DIR', workspace.root);
    onTestFinished(() => void vi.unstubAllEnvs());
    await expect(openJail(workspace.root)).rejects.toThrow(/^DENIED: /u);
  });

  test.each(['with', 'without'])(
    '%s a view of open descriptors, a folder swapped for a link during the read never lets anything out',
    async (view) => {
      const workspace = await tempWorkspace();
      await workspace.put('folder/secret.txt', 'harmless');
      await symlink(workspace.outside, join(workspace.root, 'bad'));
      const jail = viewOf(await openJail(workspace.root), view === 'with');
      const swapping = swapWhile(workspace.root);
      const seen = new Set<string>();
      for (let at = 0; at < 1_000; at += 1)
        seen.add(await readText(jail, 'folder/secret.txt').catch((error: Error) => error.message.split(':')[0] ?? ''));
      await swapping.stop();
      expect(swapping.swaps()).toBeGreaterThan(10);
      expect(seen).toContain('OUTSIDE_WORKSPACE');
      expect(seen).not.toContain(SECRET);
    },
  );

  test('without a view of open descriptors files are still read, and links out refused', async () => {
    const workspace = await tempWorkspace();
    await workspace.put('a.txt', 'text');
    await symlink('../outside/secret.txt', join(workspace.root, 'link'));
    const jail = viewOf(await openJail(workspace.root), false);
    expect(await readText(jail, 'a.txt')).toBe('text');
    await expect(openFile(jail, 'link')).rejects.toThrow(/^OUTSIDE_WORKSPACE: /u);
  });
});

function viewOf({ descriptors, ...jail }: Jail, visible: boolean): Jail {
  return visible && descriptors !== undefined ? { ...jail, descriptors } : jail;
}

/** Swaps `folder` and the link `bad` for each other, over and over, until stopped. */
function swapWhile(root: string): { stop: () => Promise<void>; swaps: () => number } {
  const [folder, bad, aside] = [join(root, 'folder'), join(root, 'bad'), join(root, 'aside')];
  const stopping = new AbortController();
  let swaps = 0;
  const swapping = (async () => {
    while (!stopping.signal.aborted) {
      await rename(folder, aside);
      await rename(bad, folder);
      await rename(folder, bad);
      await rename(aside, folder);
      swaps += 1;
    }
  })();
  const stop = async (): Promise<void> => {
    stopping.abort();
    await swapping;
  };
  return { stop, swaps: () => swaps };
}
