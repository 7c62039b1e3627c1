import { escapeCodePoint, type Range, toClassText } from './code-points.ts'
import { type Escape, readEscape } from './escape.ts'
import type { Reader } from './reader.ts'
import { Unsupported } from './unsupported.ts'

/** Reads a character class after its bracket, and writes it for RE2 with every character as a number. @throws Unsupported */
export function readClass(reader: Reader): string {
  const negated = reader.consume('^')
  if (reader.consume(']')) {
    if (negated) return '(?s:.)'
    throw new Unsupported('It has a class that matches nothing.')
  }
  let inside = ''
  while (!reader.consume(']')) inside += readItem(reader)
  return `[${negated ? '^' : ''}${inside}]`
}

/** Reads a character, a range or a set. A hyphen next to a set is literal. */
function readItem(reader: Reader): string {
  const from = readAtom(reader)
  const isRange = reader.peek() === '-' && reader.peek(1) !== ']' && 'point' in from
  if (!isRange) return inClass(from)
  reader.next()
  const to = readAtom(reader)
  if (!('point' in to)) return inClass(from) + escapeCodePoint(0x2d) + inClass(to)
  if (from.point > to.point) throw new Unsupported('It has a range that is out of order.')
  return toClassText([[from.point, to.point] satisfies Range])
}

function readAtom(reader: Reader): Escape {
  const point = reader.next()
  if (point !== '\\') return { point: point.codePointAt(0) as number }
  // In a class this is a backspace, not a word boundary.
  return reader.consume('b') ? { point: 8 } : readEscape(reader)
}

function inClass(atom: Escape): string {
  if ('point' in atom) return escapeCodePoint(atom.point)
  return 'set' in atom ? toClassText(atom.set) : atom.category
}
