import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Starts the model server and gives its address, the times of its requests, and a way to stop it. */
export async function startModel() {
  const child = fork(fileURLToPath(new URL('model-server.mjs', import.meta.url)));
  const [{ baseUrl, apiKey }] = await once(child, 'message');
  return {
    baseUrl,
    apiKey,
    /** Times (milliseconds since the epoch) of the requests since the last call. */
    async takeTimes() {
      child.send('take');
      const [{ times }] = await once(child, 'message');
      return times;
    },
    async stop() {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}
