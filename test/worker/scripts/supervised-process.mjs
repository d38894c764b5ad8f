import { takeEnvironment } from '../../../dist/worker/hosting/passed-environment.js';
import { linkToSupervisor } from '../../../dist/worker/supervisor/supervisor-link.js';

// supervised-process <what>: a process as the supervisor starts it, without a worker. Prints its pid when it has its turn.
// killed: dies by a signal at its start · fails: exits with 3 before it is ready · works: works until SIGTERM, then exits with 0
// exits-7: works until SIGTERM, then exits with 7
takeEnvironment();
const [what] = process.argv.slice(2);
if (what === 'killed') process.kill(process.pid, 'SIGKILL');
if (what === 'fails') process.exit(3);

const link = linkToSupervisor(() => {
  console.log(`lost ${process.pid}`);
  process.exit(0);
});
const staying = setInterval(() => {}, 60_000);
process.on('SIGTERM', () => {
  clearInterval(staying);
  process.exitCode = what === 'exits-7' ? 7 : 0;
  link?.close();
});
await link?.takeTurn({ kind: 'embedded', stateDir: process.env.STATE_DIR }, new AbortController().signal);
link?.reportWorking();
console.log(`working ${process.pid}`);
