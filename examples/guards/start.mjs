// Runs an agent that gets into every kind of trouble once, and plays the person who is asked: approves one call, extends one budget.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const here = fileURLToPath(new URL('.', import.meta.url));
const perdure = fileURLToPath(new URL('../../bin/perdure', import.meta.url));
const runId = process.argv[2] ?? `guards-${Date.now()}`;

/** One command of the command line, as JSON. */
async function ask(...args) {
  const { stdout } = await promisify(execFile)(process.execPath, [perdure, ...args, '--json'], { cwd: here });
  return JSON.parse(stdout);
}

/** What a person would do who watches: answer what waits. Says what it does. */
async function answer({ callId, tool }) {
  const command = callId === 'budget' ? ['extend', runId, '--turns', '5'] : ['approve', runId, callId, '--by', 'you'];
  console.error(`\n> ${tool} waits for a person: perdure ${command.join(' ')}\n`);
  // what a person says is read before the next answer
  if (callId !== 'budget') await ask('steer', runId, 'Keep it short.', '--id', 'short');
  await ask(...command);
}

const command = ['run', 'Check the machine and deploy 2.1.', '--agent', 'guarded', '--id', runId];
console.error(`in examples/guards: perdure ${command.join(' ')}`);
const run = spawn(process.execPath, [perdure, ...command], { cwd: here, stdio: 'inherit' });
// Ctrl-C goes to the command itself, which lets go of its run and then ends
process.on('SIGINT', () => undefined);
const ended = once(run, 'exit');

while (run.exitCode === null && run.signalCode === null) {
  await Promise.race([ended, delay(1_000)]);
  if (run.exitCode !== null || run.signalCode !== null) break;
  // before the run is there, there is nothing to answer
  const waiting = await ask('approvals', runId).catch(() => []);
  for (const approval of waiting) await answer(approval);
}
const [code, signal] = await ended;
process.exitCode = code ?? (signal === null ? 1 : 128);
