import type { Random } from '../../../src/testing/crash/plan/random.js';

/** What an agent does, as the text of its task: batches of calls, one for each of its answers. */
export interface TreePlan {
  readonly batches: readonly (readonly TreeCall[])[];
}

/** A call of a batch: a sub-agent with a plan of its own, or a handoff to the other agent. */
export type TreeCall = { readonly wait: boolean; readonly plan: TreePlan } | 'handoff';

/** The calls of the next answer of agent `node` or `twin`, which hand plans to each other: name and arguments of each. Empty when the plan is done. `answered`: answers with calls so far. */
export function nextCalls(agent: string, plan: TreePlan, answered: number): (readonly [name: string, args: object])[] {
  const other = agent === 'node' ? 'twin' : 'node';
  return (plan.batches[answered] ?? []).map((call) => {
    if (call === 'handoff') return ['handoff', { agent: other }];
    return ['delegate', { agent: 'node', task: JSON.stringify(call.plan), ...(call.wait ? {} : { wait: false }) }];
  });
}

/** The plan in the task of a run. Messages may be joined to its line. */
export function readPlan(task: string): TreePlan {
  // the tests write it
  return JSON.parse(task.split('\n')[0] ?? '') as TreePlan;
}

/** A plan whose sub-agents have plans down to `depth` levels. */
export function randomPlan(random: Random, depth: number): TreePlan {
  const batches = random.integer(depth === 2 ? 1 : 0, 2);
  return { batches: Array.from({ length: batches }, () => randomBatch(random, depth)) };
}

function randomBatch(random: Random, depth: number): TreeCall[] {
  const calls = depth === 0 ? 0 : random.integer(1, 3);
  const delegations = Array.from({ length: calls }, (): TreeCall => ({ wait: random.next() < 0.5, plan: randomPlan(random, depth - 1) }));
  return random.next() < 0.3 || delegations.length === 0 ? [...delegations, 'handoff'] : delegations;
}
