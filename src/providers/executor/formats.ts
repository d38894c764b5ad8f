import { EXECUTOR_LIMITS } from '../../contracts/constants/limits.js';
import type { StubExecutor, SubprocessExecutor } from '../../define/agent-executor.js';
import { lazyProvider } from '../format/lazy-provider.js';
import type { ExecutorFormat } from '../format/wire-format.js';
import { createStubProvider } from './stub.js';

/** An agent that is a child process. A call may take its timeout, and as long again as its own error needs to arrive. */
export const SUBPROCESS: ExecutorFormat<SubprocessExecutor> = {
  kind: 'subprocess',
  totalMs: ({ timeoutMs = EXECUTOR_LIMITS.timeoutMsDefault }) => timeoutMs + EXECUTOR_LIMITS.timeoutMarginMs,
  create: (request) => lazyProvider(async () => (await import('./subprocess.js')).createSubprocessProvider(request)),
};

/** An agent that answers each request with the same text. */
export const STUB: ExecutorFormat<StubExecutor> = {
  kind: 'stub',
  totalMs: () => undefined,
  create: ({ executor }) => createStubProvider(executor),
};
