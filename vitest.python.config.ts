import { defineConfig } from 'vitest/config';
import base from './vitest.config.js';

/** `npm run test:python`: a client in another language. Apart from `npm test`, because it needs a Python with the Temporal SDK. */
export default defineConfig({
  test: { ...base.test, include: ['test/python/*.python.ts'], outputFile: { junit: 'coverage/junit-python.xml' } },
});
