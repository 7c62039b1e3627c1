import { maxPatternLength, maxPatternSize } from '../limits.ts'
import { readClass } from './character-class.ts'
import { escaped, lineEnds, written } from './code-points.ts'
import { readEscape } from './escape.ts'
import { type Quantifier, readQuantifier } from './quantifier.ts'
import { Reader } from './reader.ts'
import { Unsupported } from './unsupported.ts'

/** A pattern in the syntax of RE2. */
export interface Translated {
  readonly text: string
  /** The instructions that it compiles to, or a few more. */
  readonly size: number
}

interface Piece extends Translated {
  /** How often its innermost part is repeated, over all levels. */
  readonly repeats: number
  /** It matches a place and no character, so that it cannot be repeated. */
  readonly isEdge?: boolean
}

const maxGroups = 50

/**
 * Writes a regular expression of ECMAScript, in the subset that RE2 can match, for RE2. Only syntax that this function
 * knows gets through, so that a pattern means the same in both.
 *
 * @throws Unsupported for lookarounds, back references, modifiers, halves of surrogate pairs and what is too large
 */
export function translate(source: string): Translated {
  if (source.length > maxPatternLength) throw new Unsupported(`It is longer than ${maxPatternLength} characters.`)
  const reader = new Reader(source)
  const { text, size } = readChoice(reader, 0)
  if (!reader.done) throw new Unsupported('It closes a group that is not open.')
  return { text, size }
}

function readChoice(reader: Reader, depth: number): Piece {
  let choice = readSequence(reader, depth)
  while (reader.take('|')) {
    const other = readSequence(reader, depth)
    choice = joined(choice, other, '|', 1)
  }
  return choice
}

function readSequence(reader: Reader, depth: number): Piece {
  let sequence: Piece = { text: '', size: 1, repeats: 1 }
  while (!reader.done && reader.peek() !== '|' && reader.peek() !== ')')
    sequence = joined(sequence, readTerm(reader, depth), '', 0)
  return sequence
}

function readTerm(reader: Reader, depth: number): Piece {
  const atom = readAtom(reader, depth)
  const quantifier = readQuantifier(reader)
  if (quantifier === undefined) return atom
  if (atom.isEdge === true) throw new Unsupported('It repeats an edge.')
  return repeated(atom, quantifier)
}

function readAtom(reader: Reader, depth: number): Piece {
  if (readQuantifier(reader) !== undefined) throw new Unsupported('It has a quantifier behind nothing.')
  if (reader.take('\\b')) return edge('\\b')
  if (reader.take('\\B')) return edge('\\B')
  const point = reader.next()
  switch (point) {
    case '^':
      return edge('\\A')
    case '$':
      return edge('\\z')
    case '.':
      return one(`[^${written(lineEnds)}]`)
    case '(':
      return readGroup(reader, depth)
    case '[':
      return one(readClass(reader))
    case '\\':
      return readEscaped(reader)
    default:
      return one(escaped(point.codePointAt(0) as number))
  }
}

function readGroup(reader: Reader, depth: number): Piece {
  if (depth >= maxGroups) throw new Unsupported(`It nests groups more than ${maxGroups} deep.`)
  const isPlain = reader.peek() !== '?' || reader.take('?:')
  if (!isPlain && reader.match(/^\?<[A-Za-z_$][\w$]*>/, 100) === undefined)
    throw new Unsupported('It looks ahead or behind.')
  const inner = readChoice(reader, depth + 1)
  if (!reader.take(')')) throw new Unsupported('It leaves a group open.')
  return { ...inner, text: `(?:${inner.text})` }
}

function readEscaped(reader: Reader): Piece {
  const read = readEscape(reader)
  if ('point' in read) return one(escaped(read.point))
  return one('set' in read ? `[${written(read.set)}]` : read.category)
}

function one(text: string): Piece {
  return { text, size: 1, repeats: 1 }
}

function edge(text: string): Piece {
  return { text, size: 1, repeats: 1, isEdge: true }
}

function joined(a: Piece, b: Piece, between: string, more: number): Piece {
  return bounded({
    text: a.text + between + b.text,
    size: a.size + b.size + more,
    repeats: Math.max(a.repeats, b.repeats),
  })
}

/** A counted repetition is compiled to so many copies. */
function repeated(atom: Piece, { min, max, text }: Quantifier): Piece {
  const copies = max === Number.POSITIVE_INFINITY ? Math.max(min, 1) : max
  return bounded({
    text: `(?:${atom.text})${text}`,
    size: copies * atom.size + (max === min ? 0 : copies - Math.min(min, copies) + 1) + 1,
    repeats: atom.repeats * Math.max(copies, 1),
  })
}

function bounded(piece: Piece): Piece {
  if (piece.size > maxPatternSize || piece.repeats > 1_000)
    throw new Unsupported('It is too large, because of what it repeats.')
  return piece
}
