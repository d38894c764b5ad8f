import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';
import { CliFolder, type Command } from '../../../cli/support/cli.js';
import { freePort } from '../../../support/free-port.js';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const EXAMPLE = join(ROOT, 'examples/chat-page');

/** The example of a chat page, with a gateway of its own behind it. */
export interface ChatSite {
  /** The address of a chat. */
  readonly chat: (id: string) => string;
  /** Kills the gateway, without a chance to say goodbye. */
  readonly kill: () => Promise<void>;
  /** Starts the gateway again, at its old address. */
  readonly restart: () => Promise<void>;
}

/** What a test says of its site. */
export interface ChatSiteOptions {
  /** Answers of the model: steps of a script. */
  readonly steps: readonly object[];
  /** True: the worker is a process of its own. False: it ends with the gateway. */
  readonly hasWorker: boolean;
}

/** Starts sites, each in a folder of its own. They end after each test. */
export function useChatSites(): (options: ChatSiteOptions) => Promise<ChatSite> {
  const folders: CliFolder[] = [];
  const sites: ChildProcess[] = [];
  afterEach(async () => {
    for (const site of sites.splice(0)) {
      const ended = once(site, 'exit');
      if (site.kill()) await ended;
    }
    for (const folder of folders.splice(0)) await folder.remove();
  });
  return async ({ steps, hasWorker }) => {
    const folder = await CliFolder.make();
    folders.push(folder);
    await copyFile(join(EXAMPLE, 'perdure.config.mjs'), join(folder.path, 'perdure.config.mjs'));
    await writeFile(join(folder.path, 'answers.yaml'), JSON.stringify({ steps }));
    await mkdir(join(folder.path, 'node_modules'));
    await symlink(ROOT, join(folder.path, 'node_modules/perdure'));
    if (hasWorker) await folder.start(['dev']).saw('worker running');
    const port = await freePort();
    const serve = async (): Promise<Command> => {
      const command = folder.start(['serve', '--port', String(port), ...(hasWorker ? ['--no-worker'] : [])]);
      await command.saw('gateway at ');
      return command;
    };
    let gateway = await serve();
    const token = (await readFile(join(folder.path, '.perdure/gateway-token'), 'utf8')).trim();
    const url = await startSite(sites, { PERDURE_GATEWAY: `http://127.0.0.1:${port}`, PERDURE_TOKEN: token, PORT: '0' });
    return {
      chat: (id) => `${url}/?chat=${id}`,
      kill: async () => {
        gateway.child.kill('SIGKILL');
        await gateway.ended;
      },
      restart: async () => {
        gateway = await serve();
      },
    };
  };
}

/** Runs the site of the example. Returns its address. */
async function startSite(sites: ChildProcess[], env: Record<string, string>): Promise<string> {
  const site = spawn(process.execPath, [join(EXAMPLE, 'site.mjs')], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  sites.push(site);
  let seen = '';
  for await (const chunk of site.stdout) {
    seen += String(chunk);
    const [url] = /http:\/\/127\.0\.0\.1:\d+/u.exec(seen) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error(`the site of the example did not start: ${seen}`);
}
