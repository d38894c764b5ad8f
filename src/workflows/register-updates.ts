import { setHandler } from '@temporalio/workflow';
import * as handlers from '../contracts/handlers.js';
import { HANDLER_DESCRIPTIONS as describe } from '../contracts/handlers.js';
import { checkExtension } from './check-extension.js';
import { inputFailure } from './failures.js';
import { readSteer } from './inbox.js';
import { progressOf } from './progress.js';
import { openRun, type RunDesk, showInbox } from './run-desk.js';

/** Sets the updates: each is checked by its validator, and again when it runs. */
export function registerUpdates(desk: RunDesk): void {
  setHandler(
    handlers.submit,
    (input) => {
      desk.inbox.updates += 1;
      checkMessage(desk, input);
      const receipt = desk.inbox.enqueue(input);
      if (!receipt.duplicate) desk.events.add({ type: 'steer.accepted', id: receipt.id, position: receipt.position });
      showInbox(desk);
      return receipt;
    },
    {
      description: describe.submit,
      validator: (input) => checkMessage(desk, input),
    },
  );
  setHandler(
    handlers.extend,
    (input) => {
      desk.inbox.updates += 1;
      const run = openRun(desk);
      checkExtension(run, input);
      run.extend(input);
      return progressOf(run);
    },
    { description: describe.extend, validator: (input) => checkExtension(openRun(desk), input) },
  );
}

function checkMessage({ run, refused }: RunDesk, input: unknown): void {
  const result = run?.result ?? refused;
  if (result) throw inputFailure(`RUN_CLOSED: the run already ended: ${result.reason}`);
  const reading = readSteer(input);
  if ('problem' in reading) throw inputFailure(reading.problem);
}
