import { WorkflowUpdateFailedError } from '@temporalio/client';
import type { ApprovalList } from '../../../../src/contracts/schemas/approval.js';
import type { AnsweredQuestion, PendingQuestion } from '../../../../src/contracts/schemas/question.js';
import { type TestRun, until } from '../../../support/use-workers.js';

/** The questions that wait for an answer, once there are so many. */
export async function pendingQuestions(run: TestRun, count: number): Promise<readonly PendingQuestion[]> {
  let questions: readonly PendingQuestion[] = [];
  await until(async () => {
    ({ questions = [] } = await run.handle.query<ApprovalList>('approvals'));
    return questions.length === count;
  }, `${count} pending questions`);
  return questions;
}

/** Sends update `answer`. */
export async function answer(run: TestRun, input: object): Promise<AnsweredQuestion> {
  return await run.handle.executeUpdate<AnsweredQuestion, [object]>('answer', { args: [input] });
}

/** Why an update was refused; a text that says so if it was not. */
export async function refusalOf(update: Promise<unknown>): Promise<string> {
  try {
    return `accepted: ${JSON.stringify(await update)}`;
  } catch (error) {
    return error instanceof WorkflowUpdateFailedError ? (error.cause?.message ?? '') : String(error);
  }
}

/** The types of a run's events about calls and questions, in their order. */
export async function questionEvents(run: TestRun): Promise<string[]> {
  return (await run.events()).map(({ type }) => type).filter((type) => /^(?:question|tool)\./u.test(type));
}
