import { HttpAgent } from '@ag-ui/client'
import { Chat as Chat6 } from '@ai-sdk/react'
import { Agent } from '@allium/core'
import { persist } from '@allium/memory'
import { memoryStore } from '@allium/store'
import { scriptedModel } from '@allium/testing'
import * as ai6 from 'ai'
import { Chat as Chat7 } from 'ai-react7'
import * as ai7 from 'ai7'
import { describe, expect, test } from 'vitest'
import { agentOf, ask, listen, listenDurably, silent } from './kit.ts'

const lines = (messages: readonly { role: string; parts: readonly { type: string }[] }[]) =>
  messages.map(({ role, parts }) => `${role}: ${parts.map((part) => ('text' in part ? part.text : '')).join('')}`)

async function stored(url: string) {
  const { messages } = (await (await ask(`${url}/sessions/chat-1/messages`)).json()) as { messages: ai6.UIMessage[] }
  return messages
}

describe.each([6, 7] as const)('a page of the AI SDK %i', (version) => {
  const { DefaultChatTransport } = (version === 6 ? ai6 : ai7) as typeof ai6
  const Chat = (version === 6 ? Chat6 : Chat7) as typeof Chat6

  async function page(answers: string[], start = listen) {
    const model = scriptedModel(answers)
    const { url } = await start(agentOf([], { model }), { uiStream: version })
    return { url, model, chat: chatAt(url) }
  }
  function chatAt(url: string, messages: ai6.UIMessage[] = []) {
    const transport = new DefaultChatTransport({ api: `${url}/chat`, headers: { authorization: 'acme/ann' } })
    return new Chat({ id: 'chat-1', messages, transport: transport as never })
  }

  test('sendMessage({ messageId }) replaces the message, on the page and in the session', async () => {
    const { url, chat, model } = await page(['One.', 'Two.', 'Three.'])
    await chat.sendMessage({ text: 'secret' })
    await chat.sendMessage({ text: 'more' })
    await chat.sendMessage({ text: 'edited', messageId: chat.messages[0]!.id })
    expect(lines(chat.messages)).toEqual(['user: edited', 'assistant: Three.'])
    expect(lines(await stored(url))).toEqual(lines(chat.messages))
    expect(JSON.stringify(model.requests.at(-1)?.messages)).not.toMatch(/secret|more/)
  })

  test('regenerate() answers the last message again, and regenerate({ messageId }) an earlier one', async () => {
    const { url, chat } = await page(['One.', 'Two.', 'Three.', 'Four.'], listenDurably)
    await chat.sendMessage({ text: 'first' })
    await chat.sendMessage({ text: 'second' })
    await chat.regenerate()
    expect(lines(await stored(url))).toEqual(['user: first', 'assistant: One.', 'user: second', 'assistant: Three.'])
    await chat.regenerate({ messageId: chat.messages[1]!.id })
    expect(lines(await stored(url))).toEqual(['user: first', 'assistant: Four.'])
    expect(lines(chat.messages)).toEqual(['user: first', 'assistant: Four.'])
  })

  test('regenerate() after a reload answers a message again whose file is a link', async () => {
    const { url, chat, model } = await page(['One.', 'Two.'])
    const file = { type: 'file' as const, mediaType: 'image/png', url: 'data:image/png;base64,iVBORw0KGgo=' }
    await chat.sendMessage({ parts: [file, { type: 'text', text: 'Look.' }] })
    const reloaded = chatAt(url, await stored(url))
    await reloaded.regenerate()
    expect(lines(await stored(url))).toEqual(['user: Look.', 'assistant: Two.'])
    expect(model.requests[1]?.messages[0]?.content).toEqual(model.requests[0]?.messages[0]?.content)
  })

  test('regenerate() after a request that was refused sends the message, once', async () => {
    const { url, chat } = await page(['One.'])
    const send = fetch
    globalThis.fetch = () => Promise.reject(new TypeError('offline'))
    await chat.sendMessage({ text: 'first' })
    globalThis.fetch = send
    expect(chat.status).toBe('error')
    await chat.regenerate()
    expect(lines(await stored(url))).toEqual(['user: first', 'assistant: One.'])
  })

  test('a page that removes messages and sends a new one, as assistant-ui edits, replaces what it removed', async () => {
    const { url, chat, model } = await page(['One.', 'Two.', 'Three.'])
    await chat.sendMessage({ text: 'first' })
    await chat.sendMessage({ text: 'secret' })
    chat.messages = chat.messages.slice(0, 2)
    await chat.sendMessage({ text: 'edited' })
    expect(lines(await stored(url))).toEqual(['user: first', 'assistant: One.', 'user: edited', 'assistant: Three.'])
    expect(JSON.stringify(model.requests.at(-1)?.messages)).not.toContain('secret')
  })

  test('a message that the server added stays, for a page that does not have it', async () => {
    const sessions = memoryStore()
    const agent = new Agent({ model: scriptedModel(['One.', 'Reminded.', 'Two.']), logger: silent })
    agent.use(persist({ store: sessions }))
    const { url } = await listen(agent, { sessions, uiStream: version })
    const chat = chatAt(url)
    await chat.sendMessage({ text: 'first' })
    const principal = { tenantId: 'acme', userId: 'ann' }
    await agent.session({ id: 'chat-1', principal: principal as never }).run('Remind her.')
    await chat.sendMessage({ text: 'second' })
    expect(lines(await stored(url))).toHaveLength(6)
  })
})

test("AG-UI's client that runs again after it removed an answer gets a new one", async () => {
  const { url } = await listen(agentOf(['One.', 'Two.']), { agui: true })
  const client = new HttpAgent({ url: `${url}/agui`, threadId: 'chat-1', headers: { authorization: 'acme/ann' } })
  client.addMessage({ id: 'u1', role: 'user', content: 'first' })
  await client.runAgent()
  client.setMessages(client.messages.filter(({ role }) => role === 'user'))
  await client.runAgent()
  expect(client.messages.map(({ content }) => content)).toEqual(['first', 'Two.'])
  expect(lines(await stored(url))).toEqual(['user: first', 'assistant: Two.'])
})

test("AG-UI's client gets the answer again for a request that is repeated", async () => {
  const { url } = await listen(agentOf(['One.', 'Two.']), { agui: true })
  const run = () => {
    const client = new HttpAgent({ url: `${url}/agui`, threadId: 'chat-1', headers: { authorization: 'acme/ann' } })
    client.addMessage({ id: 'u1', role: 'user', content: 'first' })
    return client.runAgent({ runId: 'r1' }).then(() => client.messages.map(({ content }) => content))
  }
  expect([await run(), await run()]).toEqual([
    ['first', 'One.'],
    ['first', 'One.'],
  ])
})
