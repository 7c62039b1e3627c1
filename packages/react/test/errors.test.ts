import { expect, test } from 'vitest'
import { agentOf, gated, lines, listen, open, until } from './kit.ts'

test('without a sign-in, the error says so, and retry() continues after it', async () => {
  let user: string | undefined
  const principal = () => (user === undefined ? undefined : { tenantId: 'acme', userId: user })
  const chat = open(await listen(agentOf(['Hello.']), { principal }))
  chat.store.send('Hi')
  await until(chat, 'failed')
  expect(chat.state().error).toMatchObject({ code: 'request.principal', action: 'sign-in' })
  user = 'ann'
  chat.store.retry()
  await expect.poll(() => lines(chat)).toEqual(['user: Hi', 'assistant: Hello.'])
})

test('at a limit of the server, the error says how long to wait', async () => {
  const { model, text, end } = gated()
  const limits = { runs: { total: 1, perTenant: 1, perUser: 1 } }
  const url = await listen(agentOf([], { model }), { limits })
  const [first, second] = [open(url, { sessionId: 'a' }), open(url, { sessionId: 'b' })]
  first.store.send('Hi')
  text('One.')
  await until(first, 'streaming')
  second.store.send('Me too')
  await until(second, 'failed')
  expect(second.state().error).toMatchObject({ action: 'wait', retryAfter: expect.any(Number) })
  expect(second.state().messages).toMatchObject([{ status: 'unsent', parts: [{ text: 'Me too' }] }])
  end()
  await until(first, 'idle')
  second.store.retry()
  await expect.poll(() => lines(second)).toEqual(['user: Me too', 'assistant: Next.'])
})

test('an input that the server rejects can be taken back and changed', async () => {
  const chat = open(await listen(agentOf(['Hello.']), { maxBodyBytes: 200 }))
  chat.store.send([{ type: 'text', text: 'x'.repeat(9 * 2 ** 20) }])
  await until(chat, 'failed')
  expect(chat.state().error).toMatchObject({ code: 'request.too_large', action: 'change' })
  chat.store.removeQueued(chat.state().messages[0]!.id)
  chat.store.send('Hi')
  await expect.poll(() => lines(chat)).toEqual(['user: Hi', 'assistant: Hello.'])
})

test('a session that was deleted elsewhere is empty after a failed input', async () => {
  const chat = open(await listen(agentOf(['Hello.', 'Again.'])))
  chat.store.send('Hi')
  await until(chat, 'idle')
  await chat.client.session('chat-1').delete()
  chat.store.send('Still there?')
  await expect.poll(() => lines(chat).at(-1)).toBe('assistant: Again.')
})
