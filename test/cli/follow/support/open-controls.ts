import { onTestFinished } from 'vitest';
import { type Controlled, RunControls } from '../../../../src/cli/follow/run-controls.js';
import { Draft } from '../../../../src/cli/terminal/line-editor.js';

/** A display of 60 columns that shows nothing. */
export const NO_DISPLAY: Controlled['display'] = {
  columns: 60,
  setPrompt: () => undefined,
  print: () => undefined,
  say: () => undefined,
  callOf: () => undefined,
};

/** Controls of a run of which only some requests are there. They close when the test ends. */
export function openControls(run: object, others: Partial<Omit<Controlled, 'run'>> = {}): RunControls {
  const controls = new RunControls({
    // each test sends only the requests that it gives
    run: run as never,
    send: () => Promise.resolve(),
    display: NO_DISPLAY,
    draft: new Draft(),
    detach: () => undefined,
    decidedBy: {},
    ...others,
  });
  onTestFinished(() => controls.close());
  return controls;
}
