import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Interrupts } from '../../src/cli/host/interrupts.js';
import type { runCommandLine } from '../../src/cli/run-command-line.js';
import { collectedOutput } from '../cli/support/collected-output.js';
import { builtFolder } from './built-package.js';

/** How a command ended, with all it printed. */
export interface TypedEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Where a command is carried out. */
export interface TypedPlace {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * The verbs that host a worker, or replay in one. What they leave behind when they end is part of what is shown, so they get a process of
 * their own.
 */
const HOSTING = new Set(['run', 'watch', 'continue', 'dev', 'worker', 'replay', 'mcp', 'acp']);

/** True for a command that only reads, or talks to a run. */
export function hostsNothing([verb = '']: readonly string[]): boolean {
  return !HOSTING.has(verb);
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Carries the command line of the build out in this process, in a folder and an environment of its own. Loading the modules takes a process
 * of its own ten times as long as the rest of such a command. One at a time: the folder and the environment are those of the process.
 */
export function typed(args: readonly string[], place: TypedPlace): Promise<TypedEnd> {
  const ended = last.then(() => carryOut(args, place));
  last = ended.catch(() => undefined);
  return ended;
}

async function carryOut(args: readonly string[], { cwd, env }: TypedPlace): Promise<TypedEnd> {
  const program = await builtProgram();
  const own = process.env;
  const before = { cwd: process.cwd(), env: { ...own } };
  const { output, texts } = collectedOutput();
  process.chdir(cwd);
  setEnvironment(own, env);
  // keys are remembered for each environment: another command has another one, as in a process of its own
  process.env = { ...own };
  try {
    const code = await program.runCommandLine(args, { output, interrupts: new program.Interrupts() });
    return { code, signal: null, ...texts };
  } finally {
    process.env = own;
    setEnvironment(own, before.env);
    process.chdir(before.cwd);
  }
}

interface Program {
  readonly runCommandLine: typeof runCommandLine;
  readonly Interrupts: typeof Interrupts;
}

async function builtProgram(): Promise<Program> {
  const [{ runCommandLine }, { Interrupts }] = await Promise.all([
    loadBuilt('cli/run-command-line.js'),
    loadBuilt('cli/host/interrupts.js'),
  ]);
  return { runCommandLine, Interrupts };
}

async function loadBuilt(file: string): Promise<Program> {
  return await import(/* @vite-ignore */ pathToFileURL(join(builtFolder(), file)).href);
}

/** Native code reads the variables of the process itself. */
function setEnvironment(own: NodeJS.ProcessEnv, env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(own)) if (!(name in env)) delete own[name];
  for (const [name, value] of Object.entries(env)) if (value !== undefined) own[name] = value;
}
