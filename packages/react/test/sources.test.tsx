import { search } from '@allium/tools/search'
import { renderToString } from 'react-dom/server'
import { expect, test } from 'vitest'
import { Message } from '../src/index.ts'
import { agentOf, listen, open, until } from './kit.ts'

test('a message shows the sources that a search found for it', async () => {
  const wiki = () => [
    { text: 'They hum.', title: 'Alpacas', url: 'https://zoo.test/alpacas' },
    { text: 'They spit.', title: 'A scan', url: 'javascript:alert(1)' },
  ]
  const asks = { toolCalls: [{ name: 'search', args: { question: 'alpacas' } }] }
  const url = await listen(agentOf([asks, 'They hum.']).use(search({ in: [wiki] })))
  const chat = open(url)
  await until(chat, 'idle')
  chat.store.send('What do alpacas do?')
  await expect.poll(() => chat.state().messages[1]?.status).toBe('done')
  const message = chat.state().messages[1]!
  expect(message.parts.filter(({ type }) => type === 'source')).toEqual([
    { type: 'source', title: 'Alpacas', url: 'https://zoo.test/alpacas' },
    { type: 'source', title: 'A scan' },
  ])
  const html = renderToString(<Message message={message} />)
  expect(html).toContain(
    '<a class="allium-source" href="https://zoo.test/alpacas" rel="noopener noreferrer">Alpacas</a>',
  )
  expect(html).not.toContain('javascript:')
})
