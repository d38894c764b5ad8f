import { openDevServer } from '../../../dist/worker/dev-server/dev-server.js';

// server-user <state folder> [exit]: opens the folder's server, prints it, and closes it when its input ends.
const [stateDir = '', how] = process.argv.slice(2);
const server = await openDevServer({ stateDir, say: (line) => console.log(`say ${line}`) });
console.log(`server ${JSON.stringify({ address: server.address, started: server.started })}`);
if (how === 'exit') process.exit(0);
for await (const _ of process.stdin) continue;
await server.close();
