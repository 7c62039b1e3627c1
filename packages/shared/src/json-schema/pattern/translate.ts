import { maxPatternLength, maxPatternSize } from '../limits.ts'
import { readClass } from './character-class.ts'
import { escapeCodePoint, lineEnds, toClassText } from './code-points.ts'
import { readEscape } from './escape.ts'
import { type Quantifier, readQuantifier } from './quantifier.ts'
import { Reader } from './reader.ts'
import { Unsupported } from './unsupported.ts'

/** A pattern in RE2 syntax. */
export interface Translated {
  readonly text: string
  /** The number of instructions that it compiles to, or slightly more. */
  readonly size: number
}

interface TranslatedPattern extends Translated {
  /** How often its innermost part is repeated, over all levels. */
  readonly repeats: number
  /** It matches a position and no character, so it cannot be repeated. */
  readonly isEdge?: boolean
}

const maxGroups = 50

/**
 * Translates an ECMAScript regular expression to RE2, in the subset that RE2 can match. Only known syntax is accepted, so that a
 * pattern has the same meaning in both.
 *
 * @throws Unsupported for lookarounds, back references, modifiers, lone surrogates and patterns that are too large
 */
export function translate(source: string): Translated {
  if (source.length > maxPatternLength) throw new Unsupported(`It is longer than ${maxPatternLength} characters.`)
  const reader = new Reader(source)
  const { text, size } = readChoice(reader, 0)
  if (!reader.done) throw new Unsupported('It closes a group that is not open.')
  return { text, size }
}

function readChoice(reader: Reader, depth: number): TranslatedPattern {
  let choice = readSequence(reader, depth)
  while (reader.consume('|')) {
    const alternative = readSequence(reader, depth)
    choice = concat(choice, alternative, '|', 1)
  }
  return choice
}

function readSequence(reader: Reader, depth: number): TranslatedPattern {
  let sequence: TranslatedPattern = { text: '', size: 1, repeats: 1 }
  while (!reader.done && reader.peek() !== '|' && reader.peek() !== ')')
    sequence = concat(sequence, readTerm(reader, depth), '', 0)
  return sequence
}

function readTerm(reader: Reader, depth: number): TranslatedPattern {
  const atom = readAtom(reader, depth)
  const quantifier = readQuantifier(reader)
  if (quantifier === undefined) return atom
  if (atom.isEdge === true) throw new Unsupported('It repeats an anchor.')
  return repeat(atom, quantifier)
}

function readAtom(reader: Reader, depth: number): TranslatedPattern {
  if (readQuantifier(reader) !== undefined) throw new Unsupported('It has a quantifier without an operand.')
  if (reader.consume('\\b')) return edge('\\b')
  if (reader.consume('\\B')) return edge('\\B')
  const point = reader.next()
  switch (point) {
    case '^':
      return edge('\\A')
    case '$':
      return edge('\\z')
    case '.':
      return literal(`[^${toClassText(lineEnds)}]`)
    case '(':
      return readGroup(reader, depth)
    case '[':
      return literal(readClass(reader))
    case '\\':
      return readEscaped(reader)
    default:
      return literal(escapeCodePoint(point.codePointAt(0) as number))
  }
}

function readGroup(reader: Reader, depth: number): TranslatedPattern {
  if (depth >= maxGroups) throw new Unsupported(`It nests groups more than ${maxGroups} deep.`)
  const isNonCapturing = reader.peek() !== '?' || reader.consume('?:')
  if (!isNonCapturing && reader.match(/^\?<[A-Za-z_$][\w$]*>/, 100) === undefined)
    throw new Unsupported('It uses lookahead or lookbehind.')
  const inner = readChoice(reader, depth + 1)
  if (!reader.consume(')')) throw new Unsupported('It leaves a group open.')
  return { ...inner, text: `(?:${inner.text})` }
}

function readEscaped(reader: Reader): TranslatedPattern {
  const read = readEscape(reader)
  if ('point' in read) return literal(escapeCodePoint(read.point))
  return literal('set' in read ? `[${toClassText(read.set)}]` : read.category)
}

function literal(text: string): TranslatedPattern {
  return { text, size: 1, repeats: 1 }
}

function edge(text: string): TranslatedPattern {
  return { text, size: 1, repeats: 1, isEdge: true }
}

function concat(a: TranslatedPattern, b: TranslatedPattern, separator: string, extraLength: number): TranslatedPattern {
  return limitSize({
    text: a.text + separator + b.text,
    size: a.size + b.size + extraLength,
    repeats: Math.max(a.repeats, b.repeats),
  })
}

/** A counted repetition is compiled to that many copies. */
function repeat(atom: TranslatedPattern, { min, max, text }: Quantifier): TranslatedPattern {
  const copies = max === Number.POSITIVE_INFINITY ? Math.max(min, 1) : max
  return limitSize({
    text: `(?:${atom.text})${text}`,
    size: copies * atom.size + (max === min ? 0 : copies - Math.min(min, copies) + 1) + 1,
    repeats: atom.repeats * Math.max(copies, 1),
  })
}

function limitSize(pattern: TranslatedPattern): TranslatedPattern {
  if (pattern.size > maxPatternSize || pattern.repeats > 1_000)
    throw new Unsupported('It is too large, because of what it repeats.')
  return pattern
}
