import { processIdentity } from '../state-folder/process-identity.js';
import { keepDevServer } from './keep.js';

// The keeper's process: stops the embedded server once nobody uses it. launch.ts starts it, detached.
// Arguments: the state folder, and pid and start time of the server. It writes its log to standard error and
// ends with the server.
const [stateDir, serverPid, serverStart] = process.argv.slice(2);
const keeper = processIdentity();
if (!stateDir || !serverPid || !serverStart || !keeper) throw new Error('usage: keeper <state folder> <server pid> <server start>');

const log = (line: string): void => {
  process.stderr.write(`${new Date().toISOString()} keeper ${process.pid}: ${line}\n`);
};
await keepDevServer({ stateDir, server: { pid: Number(serverPid), start: serverStart }, keeper, log });
