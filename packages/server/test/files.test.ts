import { expect, test } from 'vitest'
import { agentOf, ask, kept, kinds, listen } from './kit.ts'

const image = Buffer.alloc(20_000, 'an image ')
const parts = (data: string, mediaType = 'image/png') => [
  { type: 'text', text: 'Look:' },
  { type: 'image', data, mediaType },
]

interface Shown {
  messages: { parts: { type: string; url: string; mediaType: string }[] }[]
}

/** The links of the files in a history. */
async function linksIn(url: string, path: string, as = 'acme/ann'): Promise<string[]> {
  const { messages } = (await (await ask(`${url}${path}`, { as })).json()) as Shown
  return messages.flatMap((message) => message.parts.filter(({ type }) => type === 'file').map((part) => part.url))
}

test.each(kinds)('a message links to its image instead of holding it, in runs %s', async (_, listen) => {
  const { url } = await listen(agentOf(['A cat.']))
  const input = parts(image.toString('base64'))
  await ask(`${url}/sessions/a/runs`, { body: { input } })
  const [link = ''] = await linksIn(url, '/sessions/a/messages')
  expect(link).toMatch(/^\/sessions\/a\/files\/1-0-1$/)
  const file = await ask(`${url}${link}`)
  expect([file.status, Buffer.from(await file.arrayBuffer()).equals(image)]).toEqual([200, true])
})

test('a file is a download that no browser takes for a page', async () => {
  const { url } = await listen(agentOf(['Thanks.']))
  const page = Buffer.from('<script>alert(1)</script>').toString('base64')
  await ask(`${url}/sessions/a/runs`, { body: { input: parts(page, 'text/html') } })
  const [link] = await linksIn(url, '/sessions/a/messages')
  const { headers } = await ask(`${url}${link}`)
  const names = ['content-type', 'content-disposition', 'x-content-type-options', 'cache-control']
  expect(names.map((name) => headers.get(name))).toEqual(['text/html', 'attachment', 'nosniff', 'private'])
})

test('the link of a file opens for its owner, and for those whom canRead lets read, alone', async () => {
  const canRead = (principal: unknown) => (principal as { userId: string }).userId === 'support'
  const { url } = await listen(agentOf(['A cat.']), { canRead })
  const input = parts(image.toString('base64'))
  await ask(`${url}/sessions/a/runs`, { body: { input } })
  const [own] = await linksIn(url, '/sessions/a/messages')
  const [read] = await linksIn(url, '/sessions/a/messages?owner=ann', 'acme/support')
  const statusOf = async (path: string, as: string) => (await ask(`${url}${path}`, { as })).status
  expect(read).toBe(`${own}?owner=ann`)
  expect(await statusOf(String(read), 'acme/support')).toBe(200)
  for (const as of ['acme/bob', 'umbrella/ann', 'umbrella/support'])
    expect([as, await statusOf(String(own), as), await statusOf(String(read), as)]).toEqual([as, 404, 404])
  expect(await statusOf(String(own), '')).toBe(401)
})

test('a file of another session of the same owner, or one that is deleted, is not found', async () => {
  const { url } = await listen(agentOf(['A cat.', 'Hello.']))
  const input = parts(image.toString('base64'))
  await ask(`${url}/sessions/a/runs`, { body: { input } })
  await ask(`${url}/sessions/b/runs`, { body: { input: 'Hi' } })
  const [link = ''] = await linksIn(url, '/sessions/a/messages')
  expect((await ask(`${url}${link.replace('/a/', '/b/')}`)).status).toBe(404)
  await ask(`${url}/sessions/a`, { method: 'DELETE' })
  expect((await ask(`${url}${link}`)).status).toBe(404)
})

test.each([
  ['DATA:image/png;BASE64,QUI=', 'AB'],
  ['data:image/png;base64,QUI%3D', 'AB'],
  ['data:text/base64,QUI=', 'QUI='],
  ['data:image/png,%89%00A', '\x89\0A'],
  ['data:text/plain,100% caf\u00e9', '100% caf\xc3\xa9'],
  ['_-8=', '\xff\xef'],
])('the link of a file with the data %j serves its bytes', async (data, bytes) => {
  const { agent, sessions } = kept(agentOf(['Thanks.']))
  const session = agent.session({ id: 'a', principal: { tenantId: 'acme', userId: 'ann' } })
  await session.run([{ role: 'user', content: [{ type: 'file', data, mediaType: 'a/b' }] }])
  const { url } = await listen(agent, { sessions })
  const [link] = await linksIn(url, '/sessions/a/messages')
  const file = await ask(`${url}${link}`)
  expect(Buffer.from(await file.arrayBuffer()).toString('latin1')).toBe(bytes)
})

test('an agent among others, and a server below a path, link to their own files', async () => {
  const { url } = await listen({ one: agentOf(['A cat.'], { name: 'one' }) }, { base: '/api' })
  const input = parts(image.toString('base64'))
  await ask(`${url}/api/agents/one/sessions/a/runs`, { body: { input } })
  const [link] = await linksIn(url, '/api/agents/one/sessions/a/messages')
  expect(link).toMatch(/^\/api\/agents\/one\/sessions\/a\/files\//)
  expect((await ask(`${url}${link}`)).status).toBe(200)
})
