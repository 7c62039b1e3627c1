import { expect, test } from 'vitest'
import { agentOf, gated, lines, listen, network, open, until } from './kit.ts'

test('a message whose response was lost is shown once: the run has received it', async () => {
  const { model, text, end } = gated()
  const url = await listen(agentOf([], { model }))
  const lossy: typeof fetch = async (to, init) => {
    const response = await fetch(to, init)
    if (String(to).endsWith('/steer')) throw new TypeError('fetch failed')
    return response
  }
  const chat = open(url, { fetch: lossy })
  chat.store.send('Hi')
  text('One.')
  await until(chat, 'streaming')
  await chat.store.steer('In French, please.')
  expect(chat.state().error).toMatchObject({ code: 'connection.lost' })
  end()
  await until(chat, 'idle')
  expect(lines(chat)).toEqual(['user: Hi', 'assistant: One. (steer) Next.'])
  expect(chat.state().queue).toEqual([])
})

test('a message that was sent without a connection becomes the next input', async () => {
  const { model, text, end } = gated()
  const { fetch, goOffline, goOnline } = network()
  const chat = open(await listen(agentOf([], { model })), { fetch })
  chat.store.send('Hi')
  text('One.')
  await until(chat, 'streaming')
  goOffline()
  await chat.store.steer('One more thing.')
  await until(chat, 'failed')
  goOnline()
  end()
  chat.store.retry()
  await expect
    .poll(() => lines(chat))
    .toEqual(['user: Hi', 'assistant: One.', 'user: One more thing.', 'assistant: Next.'])
})

test('a run that is stopped before its first event is stopped', async () => {
  const { model } = gated()
  const chat = open(await listen(agentOf([], { model })))
  await until(chat, 'idle')
  chat.store.send('Hi')
  expect(chat.state().status).toBe('sending')
  await chat.store.stop()
  await until(chat, 'idle')
  expect(chat.state().messages.at(-1)).toMatchObject({ role: 'assistant', status: 'stopped' })
})
