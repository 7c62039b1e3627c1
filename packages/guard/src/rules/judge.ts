import {
  type AnyMiddleware,
  defineMiddleware,
  layerOptions,
  type ModelRef,
  option,
  sum,
  type TypedMiddleware,
  withState,
} from '@allium/core'
import { type FailureOptions, failureOptions } from './failure-options.ts'
import { input } from './input.ts'
import { output } from './output.ts'
import { TextJudge } from './text-judge.ts'

export interface JudgeOptions<Name extends string = string> extends FailureOptions {
  /** The model that judges, or a name that the agent can resolve. A small model is enough. */
  model: ModelRef
  /** The rules that a text must follow, in plain words. */
  rubric: string
  /** Which texts are judged. @default ['input', 'output'] */
  apply?: readonly ('input' | 'output')[] | undefined
  /** The score, from 0 (breaks the rubric) to 1 (follows it), below which the turn is blocked. @default 0.5 */
  threshold?: number | undefined
  /** Layers around the judge's own calls: a `guard.budget` with the agent's ledger, a `model.cache`, a retry. @default none */
  use?: readonly AnyMiddleware[] | undefined
  /** The layer's name, and the prefix of its state keys. @default 'guard:judge' */
  as?: Name | undefined
}

/** The lowest score of the turn, and the tokens that the judge has used in the session. */
export type JudgeState<Name extends string> = Record<`${Name}:score` | `${Name}:tokens`, number>

const readOptions = layerOptions<JudgeOptions>('guard:judge', {
  model: option.required(option.any, 'the model that judges'),
  rubric: option.required(option.text, 'what a text must keep to, in plain words'),
  apply: option.some(option.oneOf('input', 'output')),
  threshold: option.number({ from: 0, to: 1 }),
  use: option.list(option.any),
  ...failureOptions,
})

/**
 * Asks a model whether inputs and answers follow a rubric, and blocks those that do not.
 *
 * Answers are judged as a whole before they are delivered. The judge's own calls run through the layers in `use`, and their tokens
 * are reported in state and event. It fails closed: a judge that fails, takes too long or returns no score blocks the turn.
 *
 * @example
 * agent.use(guard.judge({ model: small, rubric: 'Speaks of our products alone. Gives no medical advice.' }))
 */
export function judge<Name extends string = 'guard:judge'>(
  options: JudgeOptions<Name>,
): TypedMiddleware<JudgeState<Name>> {
  const {
    model,
    rubric,
    apply = ['input', 'output'],
    threshold = 0.5,
    use = [],
    as = 'guard:judge' as Name,
    ...failure
  } = readOptions(options)
  const textJudge = new TextJudge({ name: as, model, rubric, threshold, use })
  const { turn } = input({ check: (...text) => textJudge.judge('input', ...text), as, ...failure })
  const { model: modelHook } = output({ check: (...text) => textJudge.judge('output', ...text), as, ...failure })

  const layer = defineMiddleware<Record<string, number>>({
    name: as,
    // It must send its model the text that other layers have redacted.
    order: { is: ['blocks'], inside: ['redacts'] },
    inherit: true,
    state: {
      [`${as}:score`]: { default: 1, reducer: Math.min, scope: 'turn' },
      [`${as}:tokens`]: sum(),
    },
    ...(apply.includes('input') && turn !== undefined && { turn }),
    ...(apply.includes('output') && modelHook !== undefined && { model: modelHook }),
  })
  return withState<JudgeState<Name>>(layer)
}
