import { Agent } from '@allium/core'
import { persist } from '@allium/memory'
import { recall } from '@allium/memory/recall'
import { memoryStore } from '@allium/store'
import { scriptedModel } from 'allium/testing'
import { expect, it } from 'vitest'
import { type RecallView, recallRoute } from '../src/child/recall-route.ts'

const [tenant, owner] = ['acme', 'ada']

/** Says something, and asks the route for it. */
async function explained(said: string, question: string): Promise<RecallView> {
  const sessions = memoryStore()
  const { passages } = sessions
  const agent = new Agent({ name: 'helper', model: scriptedModel(['Noted.']) })
    .use(persist({ store: sessions }))
    .use(recall({ store: passages }))
  await using session = agent.session({ id: 's', principal: { tenantId: tenant, userId: owner } })
  const { turnId } = await session.run(said)
  const places = [{ sessionId: 's', turnId, index: 0 }]
  const body = JSON.stringify({ tenant, owner, layer: 'memory:recall', question, places })
  const headers = { 'content-length': `${body.length}` }
  const request = new Request('http://localhost/api/inspector/recall', { method: 'POST', headers, body })
  const response = await recallRoute(request, { passages, agent: 'helper', layers: agent.inspect().layers })
  return (await response?.json()) as RecallView
}

it('explains a passage by the words that it has', async () => {
  const { asked, passages } = await explained('My sister breeds alpacas.', 'Who breeds alpacas?')
  expect(asked).toEqual(['breeds', 'alpacas'])
  expect(passages).toMatchObject([{ words: ['breeds', 'alpacas'], passage: { text: 'My sister breeds alpacas.' } }])
})

it('hides a credential that is cut at the longest text', async () => {
  const { passages } = await explained(`zebra ${'-'.repeat(3984)} AKIAIOSFODNN7EXAMPLE and more`, 'zebra')
  const text = passages[0]?.passage?.text ?? ''
  expect(text).toContain('zebra')
  expect(text).not.toContain('AKIA')
})
