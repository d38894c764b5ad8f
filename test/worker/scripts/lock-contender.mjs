import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { acquireFolderLock } from '../../../dist/worker/state-folder/folder-lock.js';

// lock-contender <lock folder> <journal> <rounds> [hold]: takes the lock again and again and writes when it goes in and out.
// With `hold` it stays in until its input ends.
const [dir = '', journal = '', rounds = '1', hold] = process.argv.slice(2);
for (let round = 0; round < Number(rounds); round += 1) {
  const lock = await acquireFolderLock(dir, { note: { round } });
  appendFileSync(journal, `in ${process.pid}\n`);
  if (hold === 'hold') {
    console.log('holding');
    for await (const _ of process.stdin) continue;
  }
  await pause(Math.random() * 5);
  appendFileSync(journal, `out ${process.pid}\n`);
  await lock.release();
}
console.log('done');
