import { Agent, type ContentChunk, type Model } from '@allium/core'
import { fromAiSdk } from '@allium/providers'
import { toAiSdkAgent } from '@allium/providers/agent'
import { fromAiSdkMiddleware } from '@allium/providers/middleware'
import { describe, expect, test } from 'vitest'
import { libraries, model, silent } from './middleware-models.ts'
import { finishV3 } from './written-model.ts'

const source = { type: 'source', sourceType: 'url', id: 's1', url: 'https://a.example/', title: 'A' }
const again = { ...source, id: 's2' }
const paper = { type: 'source', sourceType: 'document', id: 's3', mediaType: 'text/plain', title: 'B' }
const citations = [
  { source: again, startIndex: 0, endIndex: 2, citedText: 'Hi' },
  { source: paper, startIndex: 3, endIndex: 6 },
]
/** As OpenAI streams them: a source as it is found, and citations at the end of the text. */
const answer = [
  { type: 'stream-start', warnings: [] },
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: 'Hi ' },
  source,
  { type: 'text-delta', id: 't', delta: 'Ann.' },
  { type: 'text-end', id: 't', citations },
  finishV3,
]
const cited = () => fromAiSdk(model(7, answer) as never)

async function shown(version: 6 | 7, made: Model = cited()) {
  const { createAgentUIStreamResponse } = libraries[version]
  const agent = new Agent({ model: made, logger: silent })
  const uiMessages = [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }]
  const of = { agent: toAiSdkAgent(agent, { session: agent.session({ id: 's' }) }), uiMessages, sendSources: true }
  const text = await (await createAgentUIStreamResponse(of as never)).text()
  const chunks = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json as string))
  return {
    types: chunks.map(({ type }) => type).filter((type) => /^(text|source)/.test(type)),
    end: chunks.find(({ type }) => type === 'text-end'),
    sources: chunks.filter(({ type }) => type.startsWith('source')).map(({ url, title }) => url ?? title),
  }
}

describe('Citations of an answer', () => {
  test('reach a page of ai 7 with their passages, at the end of their text, and the source once', async () => {
    const { types, end, sources } = await shown(7)
    expect(end.citations).toEqual(citations)
    expect(sources).toEqual([source.url])
    expect(types).toEqual(['text-start', 'text-delta', 'source-url', 'text-delta', 'text-end'])
  })

  test('are what streamText of ai 7 makes of the same model', async () => {
    const result = libraries[7].streamText({ model: model(7, answer) as never, prompt: 'Hi' })
    const ends: unknown[] = []
    for await (const part of result.fullStream) if (part.type === 'text-end') ends.push(part.citations)
    expect([ends, (await result.sources).length]).toEqual([[(await shown(7)).end.citations], 1])
  })

  test('reach a page of ai 6, which knows none, as sources, each once', async () => {
    const { end, sources } = await shown(6)
    expect([end.citations, sources]).toEqual([undefined, [source.url, paper.title]])
  })

  test('of a text that has ended are sources, each once', async () => {
    const cites = { textId: 'other', startIndex: 0 }
    const late: ContentChunk[] = [
      { type: 'text-delta', id: 't', delta: 'Hi' },
      { type: 'source', url: source.url, cites },
      { type: 'source', url: source.url, cites },
    ]
    const made: Model = {
      id: 'test/model',
      async *stream() {
        yield* late
        yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } }
      },
    }
    const { end, sources } = await shown(7, made)
    expect([end.citations, sources]).toEqual([undefined, [source.url]])
  })

  test.each(['wrapStream', 'wrapGenerate'])('pass a middleware of ai 7 with their passages: %s', async (hook) => {
    const seen: unknown[] = []
    const wrapStream = async ({ doStream }: { doStream(): Promise<{ stream: ReadableStream }> }) => {
      const { stream } = await doStream()
      const note = new TransformStream({
        transform(part, controller) {
          if (part.type === 'text-end') seen.push(part.citations)
          controller.enqueue({ ...part })
        },
      })
      return { stream: stream.pipeThrough(note) }
    }
    const wrapGenerate = async ({ doGenerate }: { doGenerate(): Promise<{ content: { citations?: unknown }[] }> }) => {
      const result = await doGenerate()
      seen.push(result.content[0]?.citations)
      return result
    }
    const middleware = { specificationVersion: 'v4', ...(hook === 'wrapStream' ? { wrapStream } : { wrapGenerate }) }
    const agent = new Agent({ model: cited(), logger: silent }).use(fromAiSdkMiddleware(middleware as never))
    const heard: [string | undefined, unknown][] = []
    const run = agent.run('Hi')
    for await (const event of run) if (event.type === 'source') heard.push([event.id, event.cites])
    expect(seen).toEqual([citations])
    // A whole answer lists the text before the source that was found in it.
    expect(heard.sort(([a = ''], [b = '']) => a.localeCompare(b))).toEqual([
      ['s1', undefined],
      ['s2', { textId: expect.any(String), startIndex: 0, endIndex: 2, citedText: 'Hi' }],
      ['s3', { textId: expect.any(String), startIndex: 3, endIndex: 6 }],
    ])
  })
})
