import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { afterEach, inject, vi } from 'vitest';
import { AgentClient } from '../../../src/client/agent-client.js';
import { processState } from '../../../src/process/process-identity.js';
import { COMMAND_FILES, CommandRecord } from '../../../src/tools/commands/command-record.js';
import { type DevServerRecord, readDevServerRecord } from '../../../src/worker/dev-server/record.js';
import { livePresences } from '../../../src/worker/state-folder/presence.js';
import { builtCli } from '../../support/built-package.js';
import { hostsNothing, typed } from '../../support/typed-command.js';
import { until } from '../../support/use-workers.js';
import { removeStateDir } from '../../worker/support/state-dir.js';
import { Command, type CommandEnd } from './command.js';

const FIXTURE = fileURLToPath(new URL('../fixtures/effects/perdure.config.mjs', import.meta.url));

/** Real processes on a busy machine: long, but never for ever. */
export const WAIT_MS_MAX = 90_000;

/** What a tool of the fixture config noted: it started, or came to its end. */
export interface Effect {
  readonly what: 'start' | 'end';
  readonly tool: string;
  readonly name: string;
  readonly key: string;
  readonly pid: number;
}

/** An empty folder with a config whose tools note what they do in a file outside of it, and a workspace beside it. */
export class PerdureFolder {
  readonly root: string;
  /** Where the commands are started. */
  readonly dir: string;
  readonly stateDir: string;
  readonly workspace: string;
  readonly #effectLog: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #commands: Command[] = [];
  readonly #clients: { close(): Promise<void> }[] = [];

  constructor(root: string, env: NodeJS.ProcessEnv) {
    this.root = root;
    this.dir = join(root, 'here');
    this.stateDir = join(this.dir, '.perdure');
    this.workspace = join(root, 'workspace');
    this.#effectLog = join(root, 'effects.jsonl');
    this.#env = {
      PATH: process.env['PATH'],
      HOME: join(root, 'home'),
      PERDURE_TEMPORAL_BIN: inject('temporalBinary'),
      EFFECT_LOG: this.#effectLog,
      ...env,
    };
  }

  /** Starts a command; `launcher` is put before it. */
  start(args: readonly string[], env: NodeJS.ProcessEnv = {}, launcher: readonly string[] = []): Command {
    const command = new Command(args, { cwd: this.dir, env: { ...this.#env, ...env }, launcher });
    this.#commands.push(command);
    return command;
  }

  /** Starts a Node program of the test's own in the same place. */
  startScript(program: string, args: readonly string[]): Command {
    builtCli(); // it uses the package's doors, which lead to the build
    const command = new Command(args, { cwd: this.dir, env: this.#env, program });
    this.#commands.push(command);
    return command;
  }

  /** Runs a command to its end, whatever its exit status. */
  async run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<CommandEnd> {
    return await (hostsNothing(args) ? typed(args, { cwd: this.dir, env: { ...this.#env, ...env } }) : this.start(args, env).ended);
  }

  /** Types a command that must exit with this status. It gets no process of its own, so it must not host a worker. */
  async type(args: readonly string[], code = 0): Promise<CommandEnd> {
    const end = await typed(args, { cwd: this.dir, env: this.#env });
    if (end.code !== code) throw new Error(`perdure ${args.join(' ')}\n${end.stdout}\n${end.stderr}\nended with ${end.code}, not ${code}`);
    return end;
  }

  /** Runs a command with `--json`, which must exit with this status, and gives the document it printed. */
  async json(args: readonly string[], code = 0): Promise<unknown> {
    const full = [...args, '--json'];
    const { stdout } = await (hostsNothing(args) ? this.type(full, code) : this.start(full).exits(code));
    try {
      return JSON.parse(stdout);
    } catch (error) {
      throw new Error(`perdure ${args.join(' ')} printed more than one JSON document: ${stdout}`, { cause: error });
    }
  }

  /** What the tools did so far. */
  async effects(): Promise<Effect[]> {
    const text = await readFile(this.#effectLog, 'utf8');
    return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
  }

  /** The starts of a tool so far. */
  async startsOf(tool: string): Promise<Effect[]> {
    return (await this.effects()).filter((effect) => effect.what === 'start' && effect.tool === tool);
  }

  /** Waits until a tool has started so often. */
  async started(tool: string, times = 1): Promise<void> {
    await until(async () => (await this.startsOf(tool)).length >= times, `${times} starts of ${tool}`, WAIT_MS_MAX);
  }

  /** Makes tools wait in their midst until `release`; with a name only the calls of this name. */
  async hold(name = ''): Promise<void> {
    await writeFile(`${this.#effectLog}.hold`, name);
  }

  async release(): Promise<void> {
    await rm(`${this.#effectLog}.hold`, { force: true });
  }

  /** The folder's own server, which must run. */
  async server(): Promise<DevServerRecord> {
    const record = await readDevServerRecord(this.stateDir);
    if (!record) throw new Error('the folder has no server');
    return record;
  }

  /** A client on the folder's own server, as a backend service has it. */
  async client(): Promise<AgentClient> {
    const client = await AgentClient.connect({ address: (await this.server()).address, stateDir: this.stateDir });
    this.#clients.push(client);
    return client;
  }

  /** Temporal's own client on the folder's server. */
  async temporal(): Promise<Client> {
    const connection = await Connection.connect({ address: (await this.server()).address });
    this.#clients.push(connection);
    return new Client({ connection });
  }

  /** Ends everything that was started here, and removes the folder. */
  async remove(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    await Promise.all(this.#commands.filter(({ isRunning }) => isRunning).map((command) => command.kill('SIGKILL')));
    for (const { pid } of await livePresences(join(this.stateDir, 'background'))) process.kill(pid, 'SIGKILL');
    // a worker whose supervisor was killed would first finish its calls
    for (const pid of await recordedWorkers(this.stateDir)) killIfAlive(pid);
    // the holder of a background command writes its end into the folder, after the end of its processes
    await until(async () => !(await holders(this.stateDir)).some((pid) => processState(pid).kind === 'running'), 'the end of the holders');
    await removeStateDir(this.stateDir);
    await rm(this.root, { recursive: true, force: true });
  }
}

/** The pids of the holders of background commands that a folder recorded. */
async function holders(stateDir: string): Promise<number[]> {
  const folder = join(stateDir, 'commands');
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const records = names.filter((name) => basename(name) === COMMAND_FILES.record);
  return await Promise.all(
    records.map(async (name) => CommandRecord.parse(JSON.parse(await readFile(join(folder, name), 'utf8'))).holder.pid),
  );
}

/** The pids of the workers that a folder recorded. */
async function recordedWorkers(stateDir: string): Promise<number[]> {
  const names = await readdir(join(stateDir, 'workers')).catch(() => []);
  return names.map((name) => Number(name.split('-')[0]));
}

function killIfAlive(pid: number): void {
  if (processState(pid).kind === 'running') process.kill(pid, 'SIGKILL');
}

/** Makes folders for tests; each is gone after its test, with every process of it. `env` is given to all commands. */
export function usePerdureFolders(): (env?: NodeJS.ProcessEnv) => Promise<PerdureFolder> {
  const folders: PerdureFolder[] = [];
  vi.setConfig({ testTimeout: 2 * WAIT_MS_MAX });
  afterEach(async () => {
    await Promise.all(folders.splice(0).map((folder) => folder.remove()));
  });
  return async (env = {}) => {
    const folder = new PerdureFolder(await mkdtemp(join(tmpdir(), 'perdure-e2e-')), env);
    folders.push(folder);
    for (const name of ['here', 'home', 'workspace']) await mkdir(join(folder.root, name));
    await cp(FIXTURE, join(folder.dir, 'perdure.config.mjs'));
    await writeFile(join(folder.root, 'effects.jsonl'), '');
    return folder;
  };
}
