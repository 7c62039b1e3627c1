import { checkOptions } from '@allium/core/internal'
import { type NamedCase, nameCases } from '../cases/case.ts'
import { checkedOptions, definitionKeys, type EvalDefinition } from './options.ts'

/** A checked evaluation, whose cases have their ids. */
export interface CheckedEval<E, Name extends string> extends EvalDefinition<E, Name> {
  cases: readonly NamedCase<E>[]
}

/**
 * Returns the evaluation of an eval file, checked. Files in `evals/` export it, and `allium eval` runs it with `evaluate()`. Cases without an
 * id get the one of their position, so that it stays the same when a part of them runs.
 *
 * @throws AlliumError `options.invalid`
 * @example
 * export default defineEval({ agent, cases, scorers: { right: score.contains() }, gates: { right: { maxDrop: 0.1 } } })
 */
export function defineEval<Name extends string, E = unknown>(
  definition: EvalDefinition<E, Name>,
): CheckedEval<E, Name> {
  checkOptions(definition, definitionKeys, 'defineEval()', 'options.invalid', {
    baseline: 'The command "allium eval" reads it from NAME.baseline.json, next to the eval file.',
    'signal onProgress clock': 'It is an option of evaluate().',
    answers: 'The command "allium eval" reads them from NAME.answers.jsonl, next to the eval file.',
  })
  checkedOptions(definition)
  return { ...definition, cases: nameCases(definition.cases) }
}
