import { processIdentity } from '../state-folder/process-identity.js';
import { keepDevServer } from './keep.js';

// A process of its own, started by dev-server-launch: keeper <state folder> <server pid> <server start>
const [stateDir, serverPid, serverStart] = process.argv.slice(2);
const keeper = processIdentity();
if (!stateDir || !serverPid || !serverStart || !keeper) throw new Error('usage: keeper <state folder> <server pid> <server start>');

const log = (line: string): void => {
  process.stderr.write(`${new Date().toISOString()} keeper ${process.pid}: ${line}\n`);
};
await keepDevServer({ stateDir, server: { pid: Number(serverPid), start: serverStart }, keeper, log });
