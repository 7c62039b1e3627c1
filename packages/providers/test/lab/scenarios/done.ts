import { describe, type Outcome } from '../outcome.ts'

/** The answer of a model that got what it needs. */
export const done = { text: 'Done.' }

/** A fault if the run did not end with that answer. */
export function isDone(outcome: Outcome): readonly [boolean, string] {
  return [outcome.status !== 'completed' || outcome.text !== 'Done.', describe(outcome)]
}
