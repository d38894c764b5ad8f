import { defineConfig } from 'vitest/config';
import base from './vitest.config.js';

/** `npm run test:s3`: artifacts in a real S3 server. Apart from `npm test`, because it needs a server that no npm package brings. */
export default defineConfig({
  test: { ...base.test, include: ['test/s3/*.s3.ts'], globalSetup: [], outputFile: { junit: 'coverage/junit-s3.xml' } },
});
