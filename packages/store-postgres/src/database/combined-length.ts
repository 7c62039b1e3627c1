import { AlliumError } from '@allium/core'
import { mostNameBytes as most } from '@allium/store'

/**
 * For a database whose index limits the combined length of texts.
 *
 * @throws AlliumError `store.key` when they have too many bytes together
 */
export function checkCombinedLength(what: string, texts: readonly string[]): void {
  const { length } = new TextEncoder().encode(texts.join(''))
  if (length <= most) return
  throw new AlliumError(
    'store.key',
    `The ${what} have ${length} bytes in total. The maximum is ${most}. Use shorter ones.`,
    {
      details: { what },
    },
  )
}
