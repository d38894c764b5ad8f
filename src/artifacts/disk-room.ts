import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DISK_LIMITS } from '../contracts/constants/limits.js';

/**
 * Says of the first of these folders whose disk is full: `disk full: FOLDER has 3 KiB free, and calls need 40 KiB`. Undefined if all have
 * room. A folder that does not exist counts as its parent, and a disk that cannot be asked as one with room. Never rejects.
 */
export async function fullDisk(folders: readonly string[]): Promise<string | undefined> {
  return (await look(folders)).problem;
}

/**
 * Makes `fullDisk` for a check before each call. Disks with ample room are asked again after `DISK_LIMITS.ampleForMs`: to ask them for each
 * call costs more CPU time than the call's own result.
 */
export function createDiskWatch(folders: readonly string[]): () => Promise<string | undefined> {
  let askAgainAt = 0;
  return async () => {
    const now = performance.now();
    if (now < askAgainAt) return undefined;
    const { problem, isAmple } = await look(folders);
    askAgainAt = isAmple ? now + DISK_LIMITS.ampleForMs : 0;
    return problem;
  };
}

interface Look {
  readonly problem?: string;
  /** No disk can fill up within `DISK_LIMITS.ampleForMs`. */
  readonly isAmple: boolean;
}

async function look(folders: readonly string[]): Promise<Look> {
  let isAmple = true;
  for (const folder of folders) {
    const disk = await askDisk(folder);
    const problem = disk && problemOf(disk);
    if (problem !== undefined) return { problem: `disk full: ${folder} ${problem}`, isAmple: false };
    isAmple &&= disk !== undefined && hasAmpleRoom(disk);
  }
  return { isAmple };
}

function problemOf({ bavail, bsize, blocks, files, ffree }: StatsFs): string | undefined {
  const [free, needed] = [bavail * bsize, Math.min(DISK_LIMITS.freeBytesMin, blocks * bsize * DISK_LIMITS.freeShareMin)];
  if (free < needed) return `has ${kib(free)} KiB free, and calls need ${kib(needed)} KiB`;
  // some file systems count no files
  return files > 0 && ffree === 0 ? 'can take no further file' : undefined;
}

function hasAmpleRoom({ bavail, bsize, files, ffree }: StatsFs): boolean {
  return bavail * bsize >= DISK_LIMITS.ampleBytesMin && (files === 0 || ffree >= DISK_LIMITS.ampleFilesMin);
}

async function askDisk(folder: string): Promise<StatsFs | undefined> {
  try {
    return await statfs(folder);
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return isMissing && dirname(folder) !== folder ? await askDisk(dirname(folder)) : undefined;
  }
}

const kib = (bytes: number): number => Math.floor(bytes / 1_024);
