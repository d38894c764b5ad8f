import { processIdentity } from '../../process/process-identity.js';
import { keepDevServer } from './keep.js';

// The keeper process: stops the embedded server when it has no users. launch.ts starts it detached.
// Arguments: the state folder, and the pid and start time of the server. It logs to standard error and exits
// with the server.
const [stateDir, serverPid, serverStart] = process.argv.slice(2);
const keeper = processIdentity();
if (!stateDir || !serverPid || !serverStart || !keeper) throw new Error('usage: keeper <state folder> <server pid> <server start>');

const log = (line: string): void => {
  process.stderr.write(`${new Date().toISOString()} keeper ${process.pid}: ${line}\n`);
};
await keepDevServer({ stateDir, server: { pid: Number(serverPid), start: serverStart }, keeper, log });
