import { readActivityProblem } from './failures.js';

/**
 * Repeats a call of an activity whose worker was found dead, which Temporal does not: the failure of such a call is final, because a tool
 * must not run again. For activities that may run any number of times. Each repetition needs a lost worker, so there is no other bound.
 *
 * @param mayRepeat asked after each loss; false passes the failure on. @default always
 */
export async function repeatAfterLoss<T>(call: () => Promise<T>, mayRepeat: () => boolean = () => true): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!readActivityProblem(error).workerLost || !mayRepeat()) throw error;
    }
  }
}
