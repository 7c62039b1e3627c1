import { expect, it } from 'vitest'
import { wordWrap } from '../src/screen/word-wrap.ts'

it('breaks between words, wherever the pieces are cut', () => {
  expect(wrap(['The qui', 'ck brown', ' fox ju', 'mps'], 12)).toBe('The quick\n  brown fox\n  jumps\n')
})

it('writes each word as soon as it is whole', () => {
  const written: string[] = []
  const { push } = wordWrap((text) => written.push(text), { indent: 2, width: 40 })
  push('Hello wor')
  expect(written.join('')).toBe('Hello')
})

it('keeps line breaks', () => {
  expect(wrap(['One:\n- a\n- b'], 40)).toBe('One:\n  - a\n  - b\n')
})

it('lets a word pass that is longer than the line', () => {
  expect(wrap(['a ', 'x'.repeat(20), ' b'], 10)).toBe(`a\n  ${'x'.repeat(20)}\n  b\n`)
})

function wrap(pieces: string[], width: number): string {
  let text = ''
  const wrapping = wordWrap((piece) => (text += piece), { indent: 2, width })
  for (const piece of pieces) wrapping.push(piece)
  wrapping.end()
  return text
}
