import { createClient } from '@allium/server/client'
import { StrictMode } from 'react'
import { renderToString } from 'react-dom/server'
import { expect, test } from 'vitest'
import { type ChatOptions, Thread, useSession } from '../src/index.ts'
import { agentOf, listen, open, until } from './kit.ts'

function Chat(options: Pick<ChatOptions, 'client' | 'sessionId' | 'initialHistory'>) {
  return <Thread session={useSession(options)} />
}

const offline = createClient<ReturnType<typeof agentOf>>({ url: 'http://127.0.0.1:1', fetch: () => Promise.reject() })

test('a server renders the composer and the status, and requests nothing', () => {
  const html = renderToString(
    <StrictMode>
      <Chat client={offline} sessionId="a" />
    </StrictMode>,
  )
  expect(html).toContain('<textarea')
  expect(html).toContain('Loading messages')
})

test('a server renders the history that it is given', async () => {
  const chat = open(await listen(agentOf(['Hello, Ann.'])))
  chat.store.send('Hi')
  await until(chat, 'idle')
  const initialHistory = await chat.client.session('chat-1').history()
  const html = renderToString(<Chat client={offline} sessionId="chat-1" initialHistory={initialHistory} />)
  expect(html).toContain('Hello, Ann.')
})

test('renders of a server share no state', () => {
  const render = (id: string) => {
    const messages = [{ id, role: 'user' as const, parts: [{ type: 'text', text: `secret of ${id}` }] }]
    return renderToString(<Chat client={offline} sessionId="a" initialHistory={{ messages, running: false }} />)
  }
  expect(render('ann')).toContain('secret of ann')
  expect(render('bob')).not.toContain('secret of ann')
})
