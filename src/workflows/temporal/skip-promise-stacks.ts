/**
 * Makes the promises of workflow code cheap. The SDK's promise hook captures and source-maps a stack for each of them, for query
 * `__stack_trace` alone: half of the CPU time of a turn. The hook gets everything through `Promise.constructor`, the function constructor
 * of the sandbox. Here it gets an error without a stack, and stops early. Errors of workflow code keep their stacks.
 *
 * The bundler preloads this module: it runs once in each sandbox, before the SDK freezes the globals. The hook of another SDK version that
 * asks for something else gets the real function constructor, and is only slower.
 */
if (!('__PERDURE_WORKFLOW_STACKS__' in globalThis)) skipPromiseStacks();

function skipPromiseStacks(): void {
  const compile = Promise.constructor;
  const answers = new Map<unknown, () => unknown>([
    ['return globalThis.__TEMPORAL_ACTIVATOR__', () => Reflect.get(globalThis, '__TEMPORAL_ACTIVATOR__')],
    ['return globalThis.Error', () => WithoutStack],
  ]);
  const answer = (...texts: unknown[]): unknown => answers.get(texts[0]) ?? Reflect.apply(compile, undefined, texts);
  Object.defineProperty(Promise, 'constructor', { value: answer });
}

/** The error of the promise hook. Nothing captures a stack for it. */
class WithoutStack {
  readonly stack = undefined;
}
