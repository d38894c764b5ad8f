// Runs an agent that triggers every guard once. Approves its pending call and extends its turn limit when requested.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const here = fileURLToPath(new URL('.', import.meta.url));
const perdure = fileURLToPath(new URL('../../bin/perdure', import.meta.url));
const runId = process.argv[2] ?? `guards-${Date.now()}`;

/** Runs a perdure command with --json and returns its document. */
async function perdureJson(...args) {
  const { stdout } = await promisify(execFile)(process.execPath, [perdure, ...args, '--json'], { cwd: here });
  return JSON.parse(stdout);
}

/** Decides a pending approval, and prints the command. */
async function decide({ callId, tool }) {
  const command = callId === 'budget' ? ['extend', runId, '--turns', '5'] : ['approve', runId, callId, '--by', 'you'];
  console.error(`\n> ${tool} is waiting for approval: perdure ${command.join(' ')}\n`);
  // the model sees this message before its next response
  if (callId !== 'budget') await perdureJson('steer', runId, 'Keep it short.', '--id', 'short');
  await perdureJson(...command);
}

const command = ['run', 'Check the machine and deploy 2.1.', '--agent', 'guarded', '--id', runId];
console.error(`in examples/guards: perdure ${command.join(' ')}`);
const run = spawn(process.execPath, [perdure, ...command], { cwd: here, stdio: 'inherit' });
// the perdure command handles Ctrl-C: it detaches from the run and exits
process.on('SIGINT', () => undefined);
const ended = once(run, 'exit');

while (run.exitCode === null && run.signalCode === null) {
  await Promise.race([ended, delay(1_000)]);
  if (run.exitCode !== null || run.signalCode !== null) break;
  // fails until the run exists
  const pending = await perdureJson('approvals', runId).catch(() => []);
  for (const approval of pending) await decide(approval);
}
const [code, signal] = await ended;
process.exitCode = code ?? (signal === null ? 1 : 128);
