import { text } from 'node:stream/consumers';
import { type HolderAnswer, type HolderOrder, holdCommand } from './hold-command.js';

// The holder process of one background command: start-holder.ts starts it detached, so that the command outlives the worker. Its order
// comes as JSON on its input, its answer goes as one line to its output, and it exits after the command.
const terminated = new AbortController();
process.on('SIGTERM', () => terminated.abort());
process.on('SIGHUP', () => undefined);
// the worker may be gone
process.stdout.on('error', () => undefined);

const answer = (line: HolderAnswer): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
// the worker that wrote it is this package: half an order of a worker that died is not JSON
const order = JSON.parse(await text(process.stdin)) as HolderOrder;
try {
  await holdCommand(order, { answer, terminated: terminated.signal });
} catch (error) {
  answer({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
}
process.exit();
