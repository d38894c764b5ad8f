import { defineConfig } from 'vitest/config';
import base from './vitest.config.js';

/** What `npm run test:live` runs: real endpoints, for whichever keys are set. Never in CI; each case has a small output limit. */
export default defineConfig({
  test: { ...base.test, include: ['test/live/*.live.ts'], globalSetup: [], reporters: ['verbose'], testTimeout: 120_000 },
});
