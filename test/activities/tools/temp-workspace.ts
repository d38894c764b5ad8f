import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { JsonValue } from '../../../src/contracts/message.js';
import type { ToolContext, ToolReturn } from '../../../src/define/define-tool.js';

/** A workspace folder with a folder beside it that tools must not reach; both are gone after the test. */
export interface TempWorkspace {
  readonly root: string;
  readonly outside: string;
  put(path: string, text: string): Promise<void>;
  read(path: string): Promise<string>;
  context(options?: { readonly signal?: AbortSignal; readonly heartbeat?: (details: JsonValue) => void }): ToolContext;
}

export const SECRET = 'a secret outside the workspace';

export async function tempWorkspace(): Promise<TempWorkspace> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'perdure-tools-')));
  onTestFinished(() => rm(base, { recursive: true, force: true }));
  const [root, outside] = [join(base, 'workspace'), join(base, 'outside')];
  await mkdir(root);
  await mkdir(outside);
  await writeFile(join(outside, 'secret.txt'), SECRET);
  return {
    root,
    outside,
    put: async (path, text) => {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    },
    read: (path) => readFile(join(root, path), 'utf8'),
    context: ({ signal = new AbortController().signal, heartbeat = () => undefined } = {}) => ({
      runId: 'run',
      turn: 1,
      callId: 'call',
      idempotencyKey: 'run/first/1/0',
      attempt: 1,
      workspace: root,
      signal,
      heartbeat,
      log: { info: () => undefined, warn: () => undefined },
    }),
  };
}

/** A tool's result as the text it must be. */
export async function textOf(result: ToolReturn | Promise<ToolReturn>): Promise<string> {
  const value = await result;
  if (typeof value !== 'string') throw new TypeError('the tool returned no text');
  return value;
}

const MAKE_PIPE = 'mkfifo';

/** Makes a named pipe. Node itself cannot; POSIX names the program. */
export function makePipe(path: string): void {
  execFileSync(MAKE_PIPE, [path]);
}
