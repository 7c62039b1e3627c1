import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { Scrub } from '@allium/shared/recording'
import { type NamedCase, nameCases } from '../cases/case.ts'
import { checkedOptions, definitionKeys, type EvalDefinition } from './options.ts'

/** An evaluation of an eval file. */
export interface FileEval<E, Name extends string> extends EvalDefinition<E, Name> {
  /** Texts to remove from recorded answers, in addition to credentials; also values that differ between runs. @default [] */
  scrub?: Scrub | undefined
}

const known: KeysOf<FileEval<unknown, string>> = { ...definitionKeys, scrub: true }

/** A checked evaluation, whose cases have their ids. */
export interface CheckedEval<E, Name extends string> extends FileEval<E, Name> {
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
export function defineEval<Name extends string, E = unknown>(definition: FileEval<E, Name>): CheckedEval<E, Name> {
  checkOptions(definition, known, 'defineEval()', 'options.invalid', {
    baseline: 'The command "allium eval" reads it from NAME.baseline.json, next to the eval file.',
    'signal onProgress clock': 'It is an option of evaluate().',
    answers: 'The command "allium eval" reads them from NAME.answers.jsonl, next to the eval file.',
  })
  const { scrub: _, ...options } = definition
  checkedOptions(options)
  return { ...definition, cases: nameCases(definition.cases) }
}
