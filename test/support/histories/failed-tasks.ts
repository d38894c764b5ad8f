import type { Client } from '@temporalio/client';

/**
 * The messages of the workflow tasks of a run that failed or timed out, in its newest execution. Read in small pages: a history with large
 * messages is larger than one answer of the server.
 */
export async function failedTasks(client: Pick<Client, 'workflowService'>, workflowId: string): Promise<string[]> {
  const failed: string[] = [];
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await client.workflowService.getWorkflowExecutionHistory({
      namespace: 'default',
      execution: { workflowId },
      maximumPageSize: 10,
      ...(nextPageToken ? { nextPageToken } : {}),
    });
    for (const event of page.history?.events ?? []) {
      const { workflowTaskFailedEventAttributes: failure, workflowTaskTimedOutEventAttributes: timeout } = event;
      if (failure) failed.push(failure.failure?.message ?? 'failed');
      if (timeout) failed.push('timed out');
    }
    nextPageToken = page.nextPageToken;
  } while (nextPageToken && nextPageToken.length > 0);
  return failed;
}
