import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { printable } from '../src/screen/printable.ts'
import { createScreen, type Screen } from '../src/screen/screen.ts'

it.each([
  ['a colour', '\u001b[31mred', '\\u001b[31mred'],
  ['a C1 sequence', '\u009b2J', '\\u009b2J'],
  ['a bell and a backspace', '\u0007\b', '\\u0007\\u0008'],
  ['a turned direction', 'a\u202eb', 'a\\u202eb'],
  ['line breaks, other scripts and emoji', 'Grüße,\n\t你好 👩‍🚀', 'Grüße,\n\t你好 👩‍🚀'],
])('escapes only control characters: %s', (_, raw, shown) => {
  expect(printable(raw)).toBe(shown)
})

it('lets no control character of a text through, however it is shown', async () => {
  const nasty = 'a\u001b[2J\u009bb\rc'
  const shown = await written((screen) => {
    const answer = screen.open('agent', 'bold')
    for (const piece of nasty) answer.push(piece)
    answer.end()
    screen.line('user', nasty)
    screen.aside('tool', nasty)
    screen.heading(nasty)
  })
  expect(shown).toContain('a\\u001b[2J')
  expect(shown).not.toMatch(/[^\P{Cc}\n]/u)
})

async function written(show: (screen: Screen) => void): Promise<string> {
  const out = new PassThrough()
  show(createScreen(out))
  out.end()
  return text(out)
}
