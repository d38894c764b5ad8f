import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';

const { wait } = proxyActivities<{ wait(name: string): Promise<string> }>({
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '30 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { maximumAttempts: 3 },
});

/** Runs one activity and returns its result, or the type of the failure that ended it. */
export async function waits(name: string): Promise<string> {
  try {
    return await wait(name);
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    return cause instanceof Error && 'type' in cause ? `failed: ${String(cause.type)}` : 'failed';
  }
}
