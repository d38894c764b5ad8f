import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../../src/contracts/constants/search-attributes.js';
import { hasEnded } from './local-process.js';

const DYNAMIC_CONFIG = [
  'history.transferProcessorMaxPollRPS=10000',
  'system.enableActivityEagerExecution=true',
  'history.MaxBufferedQueryCount=100',
  'matching.numTaskqueueReadPartitions=1',
  'matching.numTaskqueueWritePartitions=1',
];
const ANSWER_MS = 60_000;
const ATTEMPT_MS = 3_000;
const OUTPUT_CHARS_MAX = 4_000;
const TYPE_NAMES = { KEYWORD: 'Keyword', DOUBLE: 'Double', INT: 'Int' } as const;

/** A real Temporal dev server on a database file, started by a test. */
export interface TemporalServerOptions {
  readonly binary: string;
  readonly port: number;
  /** A server that is started again in the same folder has the same runs. */
  readonly folder: string;
  /** More dynamic configuration: `key=value`. */
  readonly config?: readonly string[];
}

/** Starts a server. It may take some seconds until it answers: see `untilAnswering`. */
export function startTemporalServer({ binary, port, folder, config = [] }: TemporalServerOptions): ChildProcess {
  const attributes = Object.entries(SEARCH_ATTRIBUTES).flatMap(([name, type]) => ['--search-attribute', `${name}=${TYPE_NAMES[type]}`]);
  const args = ['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--headless', '--log-level', 'error'];
  // it loses nothing when it is killed; only the machine's end would lose what was not flushed
  args.push('--db-filename', join(folder, 'temporal.db'), '--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=OFF');
  for (const value of [...DYNAMIC_CONFIG, ...config]) args.push('--dynamic-config-value', value);
  // a test server has few objects and much garbage: collecting it less often saves a tenth of its time
  return spawn(binary, [...args, ...attributes], { stdio: ['ignore', 'ignore', 'pipe'], env: { GOGC: '400', ...process.env } });
}

/** Resolves when the server at `address` answers; rejects after a minute, or when it ended, with what it printed. */
export async function untilAnswering(server: ChildProcess, address: string): Promise<void> {
  let printed = '';
  server.stderr?.on('data', (chunk: Buffer) => {
    printed = `${printed}${chunk.toString()}`.slice(-OUTPUT_CHARS_MAX);
  });
  const deadline = Date.now() + ANSWER_MS;
  while (!hasEnded(server)) {
    try {
      // a connection waits longer after each failed attempt
      const connection = await Connection.connect({ address, connectTimeout: ATTEMPT_MS });
      return await connection.close();
    } catch (error) {
      if (Date.now() > deadline) throw new Error(`no answer in ${ANSWER_MS} ms: ${printed}`, { cause: error });
    }
  }
  throw new Error(`the Temporal server ended with ${server.exitCode ?? server.signalCode}: ${printed}`);
}

/** SIGKILL, and waits until the process is gone. */
export async function killServer(server: ChildProcess): Promise<void> {
  if (hasEnded(server)) return;
  const ended = once(server, 'exit');
  server.kill('SIGKILL');
  await ended;
}
