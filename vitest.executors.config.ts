import { defineConfig } from 'vitest/config';
import base from './vitest.config.js';

/** `npm run test:executors`: agents of other frameworks. Apart from `npm test`, because it needs a Python with their packages. */
export default defineConfig({
  test: { ...base.test, include: ['test/executors/*.executors.ts'], outputFile: { junit: 'coverage/junit-executors.xml' } },
});
