import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';

/** A disk of its own, which a test can fill. */
export interface SmallDisk {
  readonly folder: string;
  /** Writes what fits, as a disk does that fills up. */
  readonly fill: () => Promise<unknown>;
  readonly free: () => Promise<void>;
}

/** Mounts a disk, of 4 MiB by default. It is gone after the test. Only where `canMount`. */
export async function useSmallDisk(size = '4m'): Promise<SmallDisk> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'perdure-disk-')));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=700`, 'perdure', folder]);
  onTestFinished(async () => {
    execFileSync('umount', ['-l', folder]);
    await rm(folder, { recursive: true });
  });
  const filler = join(folder, 'filler');
  return {
    folder,
    fill: () => promisify(execFile)('sh', ['-c', 'cat /dev/zero > "$1" 2>/dev/null || true', 'sh', filler]),
    free: () => rm(filler),
  };
}

/** Whether this user may mount a disk. */
export const canMount: boolean = isMountAllowed();

function isMountAllowed(): boolean {
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'perdure', tmpdir()], { stdio: 'ignore' });
    return process.getuid?.() === 0;
  } catch {
    return false;
  }
}
