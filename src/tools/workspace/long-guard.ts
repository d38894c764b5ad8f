import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { BACKGROUND_LIMITS } from '../../contracts/constants/limits.js';
import { isWithin, type Jail } from './jail.js';
import { type GuardedCall, markOf, type ProtectedPaths, type ProtectedState, protectedState, refuseReplaced } from './protected-paths.js';

/** How a long-living command uses a guard. */
export interface LongGuardOptions {
  readonly entries: ProtectedPaths;
  /** What the protected files were when the oldest live command of the workspace began. */
  readonly before: ProtectedState;
}

/** Why a command must end: its owner replaced a covered file, or it makes protected files again and again. */
export interface GuardAlarm {
  readonly kind: 'uncovered' | 'refused';
  readonly why: string;
}

/**
 * The guard of a command that lives long. It does what the guard of a short one does at its end again and again, because what the command
 * makes may be read meanwhile. A cover ends when its owner replaces the file below it, as editors do: then the command must end too.
 */
export class LongGuard implements GuardedCall {
  readonly before: ProtectedState;
  readonly #jail: Jail;
  readonly #entries: ProtectedPaths;
  /** The covered entries, each with its mark. */
  readonly #covered: ReadonlyMap<string, string>;
  readonly #refused = new Set<string>();
  #refusals = 0;

  private constructor(jail: Jail, { entries, before }: LongGuardOptions, covered: ReadonlyMap<string, string>) {
    this.#jail = jail;
    this.#entries = entries;
    this.before = before;
    this.#covered = covered;
  }

  /** Notes what is covered. Rejects with the file system's error. */
  static async open(jail: Jail, options: LongGuardOptions): Promise<LongGuard> {
    const covered = new Map<string, string>();
    for (const path of coveredPaths(jail, options.before)) {
      // a link is not covered: the command may exchange it, and that is refused
      const stats = await lstat(path).catch(() => undefined);
      if (stats && !stats.isSymbolicLink()) covered.set(path, await markOf(path));
    }
    return new LongGuard(jail, options, covered);
  }

  /** Renames what the command made in protected places. Returns why it must end at once. */
  async check(): Promise<GuardAlarm | undefined> {
    await this.#refuse();
    if (this.#refusals > BACKGROUND_LIMITS.refusedMax) return { kind: 'refused', why: `${this.#refusals} protected files` };
    for (const [path, mark] of this.#covered) if ((await markOf(path)) !== mark) return { kind: 'uncovered', why: path };
    return undefined;
  }

  /** Renames what the command made since the last check. Returns all names that were refused. */
  async finish(): Promise<readonly string[]> {
    await this.#refuse();
    return [...this.#refused];
  }

  async #refuse(): Promise<void> {
    const now = await protectedState(this.#jail, this.#entries);
    for (const name of await refuseReplaced(this.#jail, now, this.before, [...this.#covered.keys()])) {
      this.#refusals += 1;
      if (this.#refused.size < BACKGROUND_LIMITS.refusedMax) this.#refused.add(name);
    }
  }
}

/** What is covered of the workspace. The whole repository is one folder for it. */
function coveredPaths(jail: Jail, { marks }: ProtectedState): readonly string[] {
  const git = join(jail.root, '.git');
  return [...marks.keys()].filter((path) => isWithin(jail.root, path) && (path === git || !isWithin(git, path)));
}
