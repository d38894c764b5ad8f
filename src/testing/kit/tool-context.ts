import { createHash } from 'node:crypto';
import type { ArtifactStore } from '../../artifacts/artifact-store.js';
import { CallOutput } from '../../artifacts/call-output.js';
import type { ToolContext, ToolReturn } from '../../define/define-tool.js';
import { completeBounds } from '../../output/truncate-output.js';

/** Options of `toolContext`. */
export interface ToolContextOptions
  extends Partial<Pick<ToolContext, 'runId' | 'turn' | 'callId' | 'idempotencyKey' | 'attempt' | 'signal'>> {
  /** Absolute path of the workspace. @default none */
  readonly workspace?: string;
  /** The limits of the text that the model sees. @default those of an agent without `output` */
  readonly output?: { readonly bytesMax?: number; readonly linesMax?: number };
  /** False for a call that another worker may run by now: `assertOwned` rejects. @default true */
  readonly owned?: boolean;
}

/** The context of a tool under test, with what the tool did with it. */
export interface TestedToolContext extends ToolContext {
  /** The details of each `heartbeat`, in order. */
  readonly heartbeats: readonly ToolReturn[];
  /** The lines of `log`, in order. */
  readonly logs: readonly { readonly level: 'info' | 'warn'; readonly message: string }[];
  /** The whole texts of outputs that were cut. */
  readonly artifacts: readonly string[];
  /** Aborts `signal`, as a cancel or a timeout does. No effect on a signal of your own. */
  abort(reason?: unknown): void;
}

/**
 * A context to call `execute` or `reconcile` of a tool with, without a server: `await tool.execute(args, toolContext())`. The output
 * collector is the real one, and keeps whole outputs in memory. Nothing has to be closed.
 */
export function toolContext(options: ToolContextOptions = {}): TestedToolContext {
  const { runId = 'run', turn = 1, callId = 'call', attempt = 1, owned = true } = options;
  const controller = new AbortController();
  const signal = options.signal ?? controller.signal;
  const heartbeats: ToolReturn[] = [];
  const logs: TestedToolContext['logs'][number][] = [];
  const artifacts: string[] = [];
  const note = (level: 'info' | 'warn') => (message: string) => void logs.push({ level, message });
  const problem = note('warn');
  return {
    runId,
    turn,
    callId,
    idempotencyKey: options.idempotencyKey ?? `${runId}/first/${turn}/0`,
    attempt,
    ...(options.workspace === undefined ? {} : { workspace: options.workspace }),
    signal,
    assertOwned: async () => {
      if (!owned) throw new Error('the attempt is no longer the current one');
    },
    output: new CallOutput({ ...completeBounds(), ...options.output }, { store: memoryStore(artifacts), signal, onProblem: problem }),
    heartbeat: (details) => {
      // as in a run: details that are not JSON fail the tool
      heartbeats.push(JSON.parse(JSON.stringify(details)) as ToolReturn);
    },
    log: { info: note('info'), warn: note('warn') },
    heartbeats,
    logs,
    artifacts,
    abort: (reason) => controller.abort(reason),
  };
}

/** A store that adds each finished text to a list. */
function memoryStore(texts: string[]): ArtifactStore {
  return {
    put: () => {
      const pieces: Buffer[] = [];
      return {
        write: async (piece) => void pieces.push(Buffer.from(piece)),
        finish: async () => {
          const content = Buffer.concat(pieces);
          texts.push(content.toString());
          return { ref: `sha256:${createHash('sha256').update(content).digest('hex')}`, bytes: content.length };
        },
        discard: () => Promise.resolve(),
      };
    },
    read: () => Promise.reject(new Error('a tool reads no artifacts')),
  };
}
