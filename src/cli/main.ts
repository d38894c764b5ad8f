import { takeEnvironment } from '../worker/hosting/passed-environment.js';

// first: modules that are loaded later read the environment
takeEnvironment();

const { runMain } = await import('./run-main.js');
process.exitCode = await runMain();
