import { scriptedModel } from '@allium/testing'
import { expect, test } from 'vitest'
import { agentOf, gated, lines, listen, memoryStorage, network, open, refund, refundStep, until } from './kit.ts'

test('an input that was typed offline is kept, and sent once by retry()', async () => {
  const model = scriptedModel(['Hello.'])
  const { fetch, goOffline, goOnline } = network()
  const chat = open(await listen(agentOf([], { model })), { fetch })
  await until(chat, 'idle')
  goOffline()
  chat.store.send('Hi')
  await until(chat, 'failed')
  expect(chat.state()).toMatchObject({ error: { code: 'connection.lost', action: 'retry' } })
  expect(chat.state().messages).toMatchObject([{ status: 'unsent', parts: [{ text: 'Hi' }] }])
  goOnline()
  chat.store.retry()
  await until(chat, 'idle')
  expect(lines(chat)).toEqual(['user: Hi', 'assistant: Hello.'])
  expect(model.requests.length).toBe(1)
})

test('an input that was typed offline survives a reload', async () => {
  const url = await listen(agentOf(['Hello.']))
  const storage = memoryStorage()
  const { fetch, goOffline } = network()
  const before = open(url, { fetch, storage })
  await until(before, 'idle')
  goOffline()
  before.store.send('Hi')
  before.store.setDraft('And')
  await until(before, 'failed')
  before.leave()
  const after = open(url, { storage })
  await until(after, 'idle')
  expect(lines(after)).toEqual(['user: Hi', 'assistant: Hello.'])
  expect(after.state().draft).toBe('And')
})

test('a run continues on the server while the connection is lost, and its whole answer is shown', async () => {
  const { model, text, end } = gated()
  const { fetch, goOffline, goOnline } = network()
  const chat = open(await listen(agentOf([], { model })), { fetch })
  chat.store.send('Hi')
  text('One, ')
  await expect.poll(() => lines(chat)).toEqual(['user: Hi', 'assistant: One, '])
  goOffline()
  await until(chat, 'failed')
  text('two.')
  end()
  goOnline()
  chat.store.retry()
  await until(chat, 'idle')
  expect(lines(chat)).toEqual(['user: Hi', 'assistant: One, two.'])
})

test('a page that is reloaded in mid-answer follows the active run', async () => {
  const { model, text, end } = gated()
  const url = await listen(agentOf([], { model }))
  const storage = memoryStorage()
  const before = open(url, { storage })
  before.store.send('Hi')
  text('One, ')
  await expect.poll(() => lines(before)).toEqual(['user: Hi', 'assistant: One, '])
  before.leave()
  const after = open(url, { storage })
  await expect.poll(() => lines(after)).toEqual(['user: Hi', 'assistant: One, '])
  text('two.')
  end()
  await until(after, 'idle')
  expect(lines(after)).toEqual(['user: Hi', 'assistant: One, two.'])
})

test.each(['running', 'ended'])(
  'an input whose request was interrupted by a reload is not sent twice: its run has %s',
  async (how) => {
    const { model, text, end } = gated()
    const url = await listen(agentOf([], { model }))
    const storage = memoryStorage()
    const input = { id: 'key-1', input: 'Hi', mode: 'queue', state: 'sending' }
    storage.setItem('allium:outbox:chat-1', JSON.stringify({ draft: '', items: [input] }))
    const first = open(url)
    const run = first.client.session('chat-1').run('Hi', { idempotencyKey: 'key-1', messageId: 'key-1' })
    const answer = run.then(() => {})
    text('One.')
    if (how === 'ended') {
      end()
      await answer
    }
    const chat = open(url, { storage })
    await expect.poll(() => lines(chat)).toEqual(['user: Hi', 'assistant: One.'])
    if (how === 'running') end()
    await until(chat, 'idle')
    expect(lines(chat)).toEqual(['user: Hi', 'assistant: One.'])
  },
)

test('a pending call is still pending after a reload, with the reason of the request', async () => {
  const url = await listen(agentOf([refundStep, 'Done.'], { tools: [refund] }))
  const before = open(url)
  before.store.send('Refund it.')
  await until(before, 'suspended')
  before.leave()
  const after = open(url)
  await until(after, 'suspended')
  expect(after.state().pending).toEqual(before.state().pending)
  after.store.approve(after.state().pending[0]!)
  await until(after, 'idle')
  expect(lines(after)).toEqual(['user: Refund it.', 'assistant: [refund done] Done.'])
})

test('a decision that was lost is sent once by retry()', async () => {
  const { fetch, goOffline, goOnline } = network()
  const chat = open(await listen(agentOf([refundStep, 'Done.'], { tools: [refund] })), { fetch })
  chat.store.send('Refund it.')
  await until(chat, 'suspended')
  goOffline()
  chat.store.approve(chat.state().pending[0]!)
  await until(chat, 'failed')
  goOnline()
  chat.store.retry()
  await until(chat, 'idle')
  expect(lines(chat)[1]).toBe('assistant: [refund done] Done.')
})

test('a run that fails keeps its input, and retry() answers it again', async () => {
  const failed = Object.assign(new Error('overloaded'), { statusCode: 500 })
  const chat = open(await listen(agentOf([{ error: failed }, 'Hello.'])))
  chat.store.send('Hi')
  await until(chat, 'failed')
  expect(chat.state().error).toMatchObject({ code: 'model.failed', action: 'retry' })
  expect(lines(chat)).toEqual(['user: Hi'])
  chat.store.retry()
  await until(chat, 'idle')
  expect(lines(chat)).toEqual(['user: Hi', 'assistant: Hello.'])
})

test('a session that another page is using is followed, and the input is sent after its run', async () => {
  const { model, text, end } = gated()
  const url = await listen(agentOf([], { model }))
  const [one, other] = [open(url), open(url)]
  await until(other, 'idle')
  one.store.send('Hi')
  text('One.')
  await until(one, 'streaming')
  other.store.send('Me too')
  await expect.poll(() => lines(other).slice(0, 2)).toEqual(['user: Hi', 'assistant: One.'])
  end()
  await expect.poll(() => lines(other)).toEqual(['user: Hi', 'assistant: One.', 'user: Me too', 'assistant: Next.'])
})
