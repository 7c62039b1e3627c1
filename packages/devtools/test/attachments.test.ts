import { expect, test } from 'vitest'
import { maxBodyBytes } from '../src/messages.ts'
import { type Attachment, inputOf, isPicture, maxFiles, shownName } from '../web/store/attachments.ts'
import { filesOf, textOf } from '../web/store/content.ts'

const file = (name: string, mediaType = 'text/plain'): Attachment => ({
  type: mediaType.startsWith('image/') ? 'image' : 'file',
  mediaType,
  data: 'QUI=',
  name,
  bytes: 2,
})

test('a message with files has its text first, and only files have names', () => {
  expect(inputOf('Look', [])).toBe('Look')
  expect(inputOf('Look', [file('a.png', 'image/png'), file('b.txt')])).toEqual([
    { type: 'text', text: 'Look' },
    { type: 'image', mediaType: 'image/png', data: 'QUI=' },
    { type: 'file', mediaType: 'text/plain', data: 'QUI=', filename: 'b.txt' },
  ])
  expect(inputOf(' ', [file('b.txt')])).toHaveLength(1)
})

test('a message that the server would reject is not sent', () => {
  const large = { ...file('large'), data: 'A'.repeat(maxBodyBytes / 2) }
  expect(() => inputOf('', [large, large])).toThrow('at most 8.4 MB')
  expect(maxFiles).toBeLessThan(1000)
})

test('a file name cannot hide its extension or reorder the text around it', () => {
  expect(shownName('invoice\u202Egpj.exe\n')).toBe('invoice\ufffdgpj.exe\ufffd')
  expect(shownName(`${'a'.repeat(500)}.exe`)).toMatch(/^a{60}….*\.exe$/)
})

test('only raster images are shown as pictures', () => {
  const types = ['image/png', 'image/webp', 'image/svg+xml', 'text/html', 'image/png;x']
  expect(types.filter((mediaType) => isPicture({ mediaType }))).toEqual(['image/png', 'image/webp'])
})

test('separates the files of a stored message from its text', () => {
  const image = { type: 'image' as const, mediaType: 'image/png', bytes: 2, file: 'abc' }
  const content = [{ type: 'text', text: 'Look' }, image, { type: 'image', mediaType: 'image/gif' }]
  expect([textOf({ content }), filesOf({ content })]).toEqual(['Look\n[image image/gif]', [image]])
})
