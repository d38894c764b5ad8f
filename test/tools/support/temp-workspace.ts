import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ArtifactStore } from '../../../src/artifacts/artifact-store.js';
import { CallOutput } from '../../../src/artifacts/call-output.js';
import { FileArtifactStore } from '../../../src/artifacts/file-artifact-store.js';
import type { OutputBoundsInput } from '../../../src/contracts/activities.js';
import type { JsonValue } from '../../../src/contracts/schemas/message.js';
import type { ToolContext, ToolReturn } from '../../../src/define/define-tool.js';
import { completeBounds } from '../../../src/output/truncate-output.js';

/** What a test says of a call's context. */
export interface ContextOptions {
  readonly signal?: AbortSignal;
  readonly heartbeat?: (details: JsonValue) => void;
  /** @default those of a run that says nothing */
  readonly bounds?: OutputBoundsInput;
}

/** A workspace folder with a folder beside it that tools must not reach; both are gone after the test. */
export interface TempWorkspace {
  readonly root: string;
  readonly outside: string;
  put(path: string, text: string): Promise<void>;
  read(path: string): Promise<string>;
  /** Where outputs that were cut are kept. */
  readonly artifacts: ArtifactStore;
  context(options?: ContextOptions): ToolContext;
}

export const SECRET = 'a secret outside the workspace';

export async function tempWorkspace(): Promise<TempWorkspace> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'perdure-tools-')));
  onTestFinished(() => rm(base, { recursive: true, force: true }));
  const [root, outside] = [join(base, 'workspace'), join(base, 'outside')];
  const artifacts = new FileArtifactStore(join(base, 'artifacts'));
  await mkdir(root);
  await mkdir(outside);
  await writeFile(join(outside, 'secret.txt'), SECRET);
  return {
    root,
    outside,
    artifacts,
    put: async (path, text) => {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    },
    read: (path) => readFile(join(root, path), 'utf8'),
    context: ({ signal = new AbortController().signal, heartbeat = () => undefined, bounds } = {}) => ({
      runId: 'run',
      turn: 1,
      callId: 'call',
      idempotencyKey: 'run/first/1/0',
      attempt: 1,
      workspace: root,
      signal,
      assertOwned: () => Promise.resolve(),
      output: new CallOutput(completeBounds(bounds), { store: artifacts, signal, onProblem: () => undefined }),
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
