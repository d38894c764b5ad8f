import { fileURLToPath } from 'node:url';
import { supervise } from '../../../dist/worker/supervisor/supervise.js';

// supervisor <what> [spare]: supervises `supervised-process <what>` until its input ends or SIGTERM. Prints what it says, and its status.
const [what = '', spare] = process.argv.slice(2);
const stopping = new AbortController();
const stop = () => stopping.abort();
process.stdin.on('end', stop).resume();
process.on('SIGTERM', stop);
const program = fileURLToPath(new URL('supervised-process.mjs', import.meta.url));
const status = await supervise({
  command: [process.execPath, program, what],
  spare: spare !== undefined,
  say: (line) => console.log(`say ${line}`),
  stop: stopping.signal,
});
console.log(`status ${status}`);
process.stdin.destroy();
