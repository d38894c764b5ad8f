import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { sep } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** File calls with a path as their first argument, of which state folders are made. */
const SLOWED = ['open', 'readFile', 'writeFile', 'appendFile', 'rename', 'rm', 'mkdir', 'readdir', 'stat'] as const;

/** Delays the asynchronous file calls of this process below one folder. A call on an open file is not delayed. */
export class SlowDisk {
  delayMs = 0;

  constructor(folder: string) {
    const isBelow = (path: unknown): boolean => typeof path === 'string' && (path === folder || path.startsWith(folder + sep));
    const calls: Record<string, unknown> = fs.promises;
    for (const name of SLOWED) {
      const call = calls[name];
      if (typeof call !== 'function') continue;
      calls[name] = async (...args: readonly unknown[]): Promise<unknown> => {
        if (this.delayMs > 0 && isBelow(args[0])) await delay(this.delayMs);
        return await Reflect.apply(call, fs.promises, args);
      };
    }
    // named imports of other modules see the replaced functions only after this
    syncBuiltinESMExports();
  }
}
