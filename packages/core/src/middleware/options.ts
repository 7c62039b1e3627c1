import { AlliumError } from '../errors/allium-error.ts'
import { describe } from '../errors/describe.ts'
import type { StateField } from '../state/field.ts'
import type { TypedMiddleware } from './middleware.ts'
import { type Declaration, shape, text } from './option-checks.ts'

/**
 * Declares the options of a layer factory, each with its check. Returns the function with which the factory reads its
 * options. `as`, the layer's name, is always one of them.
 *
 * That function throws at the factory call: for an unknown option (with the nearest known name), a missing one, or a wrong
 * value (with the expected kind).
 *
 * @param name the layer's name without `as`
 * @example
 * const options = layerOptions<RetryOptions>('tools:retry', {
 *   tools: option.required(option.list(option.text), 'the names of those that may run again'),
 *   attempts: option.whole(1),
 * })
 * export function retry(given: RetryOptions) {
 *   const { tools, attempts = 3, as = 'tools:retry' } = options(given)
 */
export function layerOptions<O extends { as?: string }>(
  name: string,
  declared: Declaration<Omit<O, 'as'>>,
): <G extends O>(given: G | undefined) => G {
  const check = shape({ ...declared, as: text } as Declaration<object>)
  return (given) => {
    const options = given ?? ({} as NonNullable<typeof given>)
    if (typeof options !== 'object' || Array.isArray(options))
      throw misconfigured(name, `takes an object of options, not ${describe(given)}.`)
    const layer = typeof options.as === 'string' ? options.as : name
    if (isContext(options)) throw misconfigured(layer, uncalled(name))
    const violation = check(options)
    if (violation !== undefined) throw misconfigured(layer, violation.say(violation.path.slice(1)))
    return options
  }
}

/** The error for invalid or conflicting options. @param what follows the name: "needs either rules or a function to, not both." */
export function misconfigured(layer: string, what: string): AlliumError {
  return new AlliumError('layer.config', `"${layer}" ${what}`, { details: { layer } })
}

/** A state key that sums the values written to it. */
export function sum(field: Pick<StateField<number>, 'scope' | 'persist'> = {}): StateField<number> {
  return { default: 0, reducer: (total, more) => total + more, ...field }
}

/** Types a layer whose state keys are computed from its name. TypeScript widens such keys to `string`, so its state is declared here. */
export function withState<State>(layer: { readonly name: string }): TypedMiddleware<State> {
  return layer as TypedMiddleware<State>
}

/** Whether the options are a context: `.use(guard.budget)` registers the factory as a turn hook, which then gets a context. */
function isContext(given: object): boolean {
  return 'turnId' in given && 'sessionId' in given && 'abort' in given
}

function uncalled(name: string): string {
  const factory = name.replace(':', '.')
  return `was given to use() uncalled: it is a function that makes a layer. Write .use(${factory}({ … })).`
}
