import { renderToString } from 'react-dom/server'
import { expect, test } from 'vitest'
import { Message } from '../src/index.ts'

function fileHtml(url: string, mediaType: string, own?: true): string {
  const part = { type: 'file' as const, mediaType, url, ...(own && { own }) }
  return renderToString(<Message message={{ id: 'a', role: 'assistant', status: 'done', parts: [part] }} />)
}

test.each(['javascript:alert(1)', ' javascript:alert(1)', 'java\nscript:alert(1)', 'vbscript:x', 'file:///etc/hosts'])(
  'a file at %j is no link',
  (url) => {
    expect(fileHtml(url, 'text/plain')).not.toMatch(/href|src=/)
    expect(fileHtml(url, 'image/png')).not.toMatch(/href|src=/)
  },
)

test.each([
  'https://evil.example/p.png?secret',
  '//evil.example/p.png',
  '/\\evil.example/p.png',
  '/\t/evil.example/p.png',
  '/\n\\evil.example/p.png',
  '/\r/evil.example/p.png',
])('a remote image at %j loads only after a click', (url) => {
  expect(fileHtml(url, 'image/png')).not.toContain('<img')
})

test('an image of this server, or in the message, is shown at once', () => {
  expect(fileHtml('https://api.acme.com/sessions/a/files/x', 'image/png', true)).toContain('<img')
  expect(fileHtml('data:image/png;base64,AA==', 'image/png')).toContain('<img')
  expect(fileHtml('/sessions/a/files/x', 'image/png')).toContain('<img')
})
