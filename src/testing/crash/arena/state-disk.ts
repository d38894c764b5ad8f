import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

const SIZE_MIB = 16;
const PIECE_BYTES = 64 * 1024;
// an answer keeps its stream file open while it comes
const READ_ONLY_ATTEMPTS = 20;
const READ_ONLY_PAUSE_MS = 50;
const FILLER = '.filler';

/** The disk of a state folder: a small tmpfs where this process may mount one, else a plain folder. */
export class StateDisk {
  readonly folder: string;
  /** True for a tmpfs, which can be filled and remounted read-only. */
  readonly isMounted: boolean;

  private constructor(folder: string, isMounted: boolean) {
    this.folder = folder;
    this.isMounted = isMounted;
  }

  static async open(folder: string, { mount }: { readonly mount: boolean }): Promise<StateDisk> {
    await mkdir(folder, { recursive: true });
    return new StateDisk(folder, mount && (await canMount(folder)));
  }

  /** Why the disk cannot be made read-only, or undefined. */
  get whyNotReadOnly(): string | undefined {
    if (this.isMounted || process.getuid?.() !== 0) return undefined;
    return 'root ignores file permissions, and no tmpfs could be mounted';
  }

  /** Why the disk cannot be filled, or undefined. */
  get whyNotFull(): string | undefined {
    return this.isMounted ? undefined : 'it needs a small tmpfs, which only root can mount';
  }

  async fill(): Promise<void> {
    const piece = Buffer.alloc(PIECE_BYTES);
    try {
      for (;;) await writeFile(join(this.folder, FILLER), piece, { flag: 'a' });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
    }
  }

  async free(): Promise<void> {
    await rm(join(this.folder, FILLER), { force: true });
  }

  /** False when a file stays open for writing: the kernel then refuses a read-only mount. */
  async makeReadOnly(): Promise<boolean> {
    if (!this.isMounted) {
      await this.#setModes(0o500);
      return true;
    }
    for (let attempt = 1; attempt <= READ_ONLY_ATTEMPTS; attempt += 1) {
      if (await this.#remountReadOnly()) return true;
      await delay(READ_ONLY_PAUSE_MS);
    }
    return false;
  }

  async makeWritable(): Promise<void> {
    if (this.isMounted) await run('mount', ['-o', 'remount,rw', this.folder]);
    else await this.#setModes(0o700);
  }

  async close(): Promise<void> {
    if (this.isMounted) await run('umount', ['-l', this.folder]);
  }

  async #remountReadOnly(): Promise<boolean> {
    try {
      await run('mount', ['-o', 'remount,ro', this.folder]);
      return true;
    } catch (error) {
      if (error instanceof Error && error.message.includes('busy')) return false;
      throw error;
    }
  }

  async #setModes(mode: number): Promise<void> {
    await chmod(this.folder, mode);
    const entries = await readdir(this.folder, { recursive: true, withFileTypes: true });
    await Promise.all(entries.filter((entry) => entry.isDirectory()).map(({ parentPath, name }) => chmod(join(parentPath, name), mode)));
  }
}

async function canMount(folder: string): Promise<boolean> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  // a container without the capability refuses
  return await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_MIB}m,mode=700`, 'perdure-crash', folder]).then(
    () => true,
    () => false,
  );
}
