import type { Fault } from './fault.js';

// faults that are a setting of a whole run, and one that cannot be made

/** Workers run different builds of the workflow code, in turn. */
export const mixedBuilds: Fault = {
  weight: 0,
  forMs: [0, 0],
  whyNot: ({ builds }) => (builds > 0 ? undefined : 'it needs the option bundles: files with the workflow code of earlier builds'),
};

/** The run continues as new after few events. */
export const earlyContinueAsNew: Fault = { weight: 0, forMs: [0, 0] };

/** The clock of the host jumps. */
export const clockJump: Fault = {
  weight: 0,
  forMs: [0, 0],
  whyNot: () => 'the clock of a process cannot be moved without a preloaded library',
};
