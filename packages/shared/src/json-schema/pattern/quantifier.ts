import type { Reader } from './reader.ts'
import { Unsupported } from './unsupported.ts'

export interface Quantifier {
  readonly min: number
  readonly max: number
  readonly text: string
}

/** The engine's maximum number of repetitions. */
const maxRepeat = 1_000

/** Reads a quantifier if there is one. @throws Unsupported for more repetitions than the engine supports */
export function readQuantifier(reader: Reader): Quantifier | undefined {
  const quantifier = readGreedy(reader)
  // Laziness changes which text is matched, but not whether one is.
  if (quantifier !== undefined) reader.consume('?')
  return quantifier
}

function readGreedy(reader: Reader): Quantifier | undefined {
  if (reader.consume('*')) return { min: 0, max: Number.POSITIVE_INFINITY, text: '*' }
  if (reader.consume('+')) return { min: 1, max: Number.POSITIVE_INFINITY, text: '+' }
  if (reader.consume('?')) return { min: 0, max: 1, text: '?' }
  if (reader.peek() !== '{') return undefined
  const counted = reader.match(/^\{(\d{1,8})(?:(,)(\d{1,8})?)?\}/, 20)
  if (counted === undefined) return undefined
  const [text, first, comma, second] = counted
  const min = Number(first)
  const max = comma === undefined ? min : second === undefined ? Number.POSITIVE_INFINITY : Number(second)
  if (min > max) throw new Unsupported('It has a quantifier that is out of order.')
  if (min > maxRepeat || (max > maxRepeat && max !== Number.POSITIVE_INFINITY))
    throw new Unsupported(`It repeats something more than ${maxRepeat} times.`)
  return { min, max, text }
}
