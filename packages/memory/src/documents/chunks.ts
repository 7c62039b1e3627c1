import { wordsOf } from '../recall/words.ts'
import type { Block } from './block.ts'

/** A part of a document, which is found as a whole. */
export interface Chunk {
  readonly text: string
  /** The headings above it. */
  readonly section: string
  /** The first and the last paragraph that it has, counted from 1. */
  readonly paragraphs: readonly [first: number, last: number]
}

/** The number of words at which a chunk is full, and the maximum of a single paragraph in one. */
const [fullWords, mostWords] = [200, 300]
/** The maximum number of characters of a chunk, and of a piece of a sentence. */
const [mostCharacters, longestPiece] = [4_000, 2_000]

interface Piece {
  readonly text: string
  readonly words: number
  readonly paragraph: number
  readonly heading: number | undefined
}

/**
 * Joins paragraphs to chunks of about 200 words. A heading begins another chunk, and only a paragraph of more than 300 words is split, at
 * its sentences.
 */
export function chunksOf(blocks: readonly Block[], locale: string): Chunk[] {
  const chunks: Chunk[] = []
  const headings: string[] = []
  let pieces: Piece[] = []
  const flush = () => {
    if (pieces.length > 0) chunks.push(chunkOf(pieces, headings))
    pieces = []
  }
  for (const [i, block] of blocks.entries())
    for (const piece of piecesOf(block, i + 1, locale)) {
      // Headings stay together, and with the text below them.
      const hasText = pieces.some(({ heading }) => heading === undefined)
      if (hasText && (piece.heading !== undefined || isFull([...pieces, piece]))) flush()
      if (piece.heading !== undefined) enter(headings, piece.heading, piece.text)
      pieces.push(piece)
    }
  flush()
  return chunks
}

function isFull(pieces: readonly Piece[]): boolean {
  const words = pieces.reduce((sum, piece) => sum + piece.words, 0)
  return words > fullWords || pieces.reduce((sum, { text }) => sum + text.length, 0) > mostCharacters
}

function chunkOf(pieces: readonly Piece[], headings: readonly string[]): Chunk {
  const [first, last] = [pieces[0], pieces.at(-1)] as [Piece, Piece]
  return {
    text: pieces.reduce((text, piece, i) => text + gapBefore(pieces, i) + piece.text, ''),
    section: headings.filter(Boolean).join(' > ').slice(0, 300),
    paragraphs: [first.paragraph, last.paragraph],
  }
}

/** Sentences of one paragraph stay in it. */
function gapBefore(pieces: readonly Piece[], i: number): string {
  if (i === 0) return ''
  return pieces[i]?.paragraph === pieces[i - 1]?.paragraph ? ' ' : '\n\n'
}

/** Enters a section, which ends those of its level and below. Levels may be left out, such as an h3 below an h1. */
function enter(headings: string[], level: number, text: string): void {
  headings.length = level - 1
  headings[level - 1] = text
}

function piecesOf({ text, heading }: Block, paragraph: number, locale: string): Piece[] {
  const words = wordsOf(text, locale).length
  if (words <= mostWords && text.length <= mostCharacters) return [{ text, words, paragraph, heading }]
  return sentencesOf(text, locale).map((one) => ({ text: one, words: wordsOf(one, locale).length, paragraph, heading }))
}

const segmenters = new Map<string, Intl.Segmenter>()

/** Returns the sentences of a text. Longer ones are cut anywhere. */
function sentencesOf(text: string, locale: string): string[] {
  let segmenter = segmenters.get(locale)
  if (segmenter === undefined)
    segmenters.set(locale, (segmenter = new Intl.Segmenter(locale, { granularity: 'sentence' })))
  const pieces: string[] = []
  for (const { segment } of segmenter.segment(text))
    for (let at = 0; at < segment.length; at += longestPiece) pieces.push(segment.slice(at, at + longestPiece))
  return pieces.map((piece) => piece.trim()).filter(Boolean)
}
