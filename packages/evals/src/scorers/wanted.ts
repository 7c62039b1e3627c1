import { AlliumError } from '@allium/core'

/** Returns the texts given to a scorer, or the expected ones of the case. @throws AlliumError `options.invalid` if there are none */
export function wanted(scorer: string, given: readonly string[], expected: unknown): readonly string[] {
  const texts: unknown = given.length > 0 ? given : [expected].flat()
  if (Array.isArray(texts) && texts.length > 0 && texts.every((text) => typeof text === 'string' && text !== ''))
    return texts
  throw new AlliumError(
    'options.invalid',
    `${scorer} has no text to compare. Pass one, or give the case "expected": a text, or a list of texts.`,
  )
}
