import { expect, test } from 'vitest'
import { agentOf, allOf, ask, listen } from './kit.ts'

const source = { type: 'source', id: 's1', url: 'https://a.example/', title: 'A' } as const
const cites = { textId: 't', startIndex: 0, endIndex: 2, citedText: 'Hi' }
const chunks = [
  { type: 'text-delta', id: 't', delta: 'Hi' },
  source,
  { ...source, id: 's2', cites },
  { type: 'source', id: 's3', title: 'B', mediaType: 'text/plain', cites },
] as const

async function shown(uiStream: 6 | 7) {
  const { url } = await listen(agentOf([{ chunks: [...chunks] }]), { uiStream })
  const messages = [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }]
  const events = await allOf(await ask(`${url}/chat`, { body: { id: 'a', messages } }))
  const all = events.slice(0, -1).map(({ data }) => JSON.parse(data))
  return all.filter(({ type }) => type === 'text-end' || type.startsWith('source'))
}

const url = { type: 'source-url', sourceId: 's1', url: source.url, title: 'A' }

test('A page of ai 7 gets citations with their text, and a source once', async () => {
  const { textId: _, ...passage } = cites
  const paper = { type: 'source', sourceType: 'document', id: 's3', mediaType: 'text/plain', title: 'B' }
  const citations = [
    { source: { ...source, sourceType: 'url', id: 's2' }, ...passage },
    { source: paper, ...passage },
  ]
  expect(await shown(7)).toEqual([url, { type: 'text-end', id: 'text-1', citations }])
})

test('A page of ai 6 gets their sources, each once', async () => {
  const paper = { type: 'source-document', sourceId: 's3', mediaType: 'text/plain', title: 'B' }
  expect(await shown(6)).toEqual([url, paper, { type: 'text-end', id: 'text-1' }])
})
