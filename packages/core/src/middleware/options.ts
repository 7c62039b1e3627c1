import { AlliumError } from '../errors/allium-error.ts'
import { describe } from '../errors/describe.ts'
import type { StateField } from '../state/field.ts'
import type { TypedMiddleware } from './middleware.ts'
import { type Declaration, shape, text } from './option-checks.ts'

/**
 * Declares what a factory of layers takes: each option once, with its check. Gives the function that the factory reads its
 * options with; `as`, the layer's name, is one of them.
 *
 * A mistake is told at the factory: an unknown option with the nearest known one, a missing one, a wrong value with what
 * is expected.
 *
 * @param name the layer's name where `as` gives none
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
      throw misconfigured(name, `takes an object of options, but ${describe(given)} was given.`)
    const layer = typeof options.as === 'string' ? options.as : name
    if (isContext(options)) throw misconfigured(layer, uncalled(name))
    const violation = check(options)
    if (violation !== undefined) throw misconfigured(layer, violation.say(violation.path.slice(1)))
    return options
  }
}

/** The error of a layer whose options do not go together. @param what follows its name: "needs rules or a function to, and not both." */
export function misconfigured(layer: string, what: string): AlliumError {
  return new AlliumError('layer.config', `"${layer}" ${what}`, { details: { layer } })
}

/** A state key that adds up what is written to it. */
export function sum(field: Pick<StateField<number>, 'scope' | 'persist'> = {}): StateField<number> {
  return { default: 0, reducer: (total, more) => total + more, ...field }
}

/** A layer whose state keys are computed from its name: TypeScript takes such a key for any text, so its state is said here. */
export function withState<State>(layer: { readonly name: string }): TypedMiddleware<State> {
  return layer as TypedMiddleware<State>
}

/** `.use(guard.budget)` makes a turn hook of the factory, which then gets a context for its options. */
function isContext(given: object): boolean {
  return 'turnId' in given && 'sessionId' in given && 'abort' in given
}

function uncalled(name: string): string {
  const factory = name.replace(':', '.')
  return `was given to use() uncalled: it is a function that makes a layer. Write .use(${factory}({ … })).`
}
