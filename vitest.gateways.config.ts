import { defineConfig } from 'vitest/config';
import base from './vitest.config.js';

/** `npm run test:gateways`: LiteLLM, and a real small model. Apart from `npm test`, because they need Python packages. */
export default defineConfig({
  test: { ...base.test, include: ['test/gateways/*.gateway.ts'], outputFile: { junit: 'coverage/junit-gateways.xml' } },
});
