import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAuthenticate } from '../../../../src/activities/prepare/authenticate.js';
import { signRequest } from '../../../../src/contracts/signature.js';
import type { Config } from '../../../../src/define/define-config.js';
import { type AgentWorkerOptions, say } from '../../../support/agent-worker.js';
import { useTempFolders } from '../../../support/temp-folder.js';

const CONFIG: Config = { model: 'fake/model', providers: { fake: { api: 'openai-chat', baseUrl: 'http://127.0.0.1:9' } } };

/** The key of an owner. */
const KEY = randomBytes(32);

/** State folders of embedded servers, each with options for a worker that takes only what its owner signed or scheduled. */
export function useOwnedPlaces() {
  const newFolder = useTempFolders('perdure-owned-');
  return async () => {
    const [stateDir, workspace] = [await newFolder(), await newFolder()];
    await writeFile(join(stateDir, 'auth.key'), KEY.toString('hex'));
    const options: AgentWorkerOptions = {
      model: () => say('done'),
      config: CONFIG,
      authenticate: createAuthenticate({ key: KEY, folder: join(stateDir, 'signatures'), schedules: join(stateDir, 'schedules') }),
      sign: (request) => Promise.resolve(signRequest(KEY, request, Date.now())),
    };
    return { stateDir, workspace, options };
  };
}
