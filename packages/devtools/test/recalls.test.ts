import { Agent, memoryStore } from 'allium'
import * as memory from 'allium/memory'
import { scriptedModel } from 'allium/testing'
import { expect, test } from 'vitest'
import { type RecallView, recallRoute } from '../src/child/recall-route.ts'
import { recallsOf } from '../web/recall/recalls.ts'
import { whyText } from '../web/recall/why-text.ts'
import type { Turn } from '../web/store/trace.ts'

const principal = { tenantId: 'acme', userId: 'ada' }
const recalls = (question: string) => ({ toolCalls: [{ name: 'recall', args: { question } }] })

/** Runs inputs in conversations of one person. Returns the events of the last run as the page gets them, and asks the route about them. */
async function scene(
  options: Parameters<typeof memory.recall>[0],
  runs: [id: string, input: string, steps: (string | object)[]][],
) {
  const store = memoryStore()
  const layers = [memory.persist({ store }), memory.recall({ store: store.passages, ...options })]
  const agents = runs.map(([, , steps]) =>
    new Agent({ name: 'helper', model: scriptedModel(steps as never) }).use(layers),
  )
  let events: { event: object }[] = []
  for (const [i, [id, input]] of runs.entries()) {
    events = []
    for await (const event of agents[i]?.session({ id, principal }).run(input) ?? []) events.push({ event })
  }
  const source = { passages: store.passages, agent: 'helper', layers: agents[0]?.inspect().layers ?? [] }
  const ask = async (fields: object) => {
    const body = JSON.stringify({ tenant: 'acme', owner: 'ada', layer: 'memory:recall', ...fields })
    const headers = { 'content-length': String(body.length) }
    return recallRoute(new Request('http://x/api/inspector/recall', { method: 'POST', body, headers }), source)
  }
  const viewOf = async (fields: object) => (await (await ask(fields))?.json()) as RecallView
  return { store, turn: { events } as unknown as Turn, ask, viewOf }
}

test('a recall has the question of its call, also of two calls at once, and else the input of the turn', async () => {
  const two = { toolCalls: ['alpaca', 'zebra'].map((question) => ({ name: 'recall', args: { question } })) }
  const { turn } = await scene({}, [['a', 'Hi', [two, 'Ok.']]])
  expect(recallsOf(turn, 'Hi').map(({ question }) => question)).toEqual(['alpaca', 'zebra'])
  const every = await scene({ every: 'turn' }, [['a', 'My alpaca', ['Ok.']]])
  expect(recallsOf(every.turn, 'My alpaca').map(({ question }) => question)).toEqual(['My alpaca'])
})

test('the page gets the text, the place, the labels and the reason of each passage, without credentials', async () => {
  const { turn, viewOf } = await scene({ limit: 2 }, [
    ['monday', 'My alpaca has the key sk-ant-api03-8fKq2LmZx0VtR7nWcY4hJd1sGbP9eUaQ', ['Fine.']],
    ['today', 'Which?', [recalls('alpacas'), 'Ok.']],
  ])
  const [recall] = recallsOf(turn)
  const { asked, passages } = await viewOf({ ...recall })
  expect(asked).toEqual(['alpacas'])
  expect(passages[0]).toMatchObject({ sessionId: 'monday', words: ['alpacas'] })
  expect(passages[0]?.passage).toMatchObject({ text: 'My alpaca has the key [hidden]', author: 'ada', labels: [] })
  expect(passages.map(({ words, near }) => whyText(words, near))).toEqual([
    'has alpacas',
    '1 message before it: alpacas',
  ])
})

test('a passage that was deleted has no text, and one of another person is not found', async () => {
  const { store, turn, viewOf } = await scene({ limit: 1 }, [
    ['monday', 'My alpaca', ['Fine.']],
    ['today', 'Which?', [recalls('alpaca'), 'Ok.']],
  ])
  const [recall] = recallsOf(turn)
  expect((await viewOf({ ...recall })).passages[0]?.passage?.text).toBe('My alpaca')
  expect(await viewOf({ ...recall, owner: 'bob' })).toMatchObject({ isOff: true, passages: [{ words: [] }] })
  await store.delete({ tenant: 'acme', owner: 'ada', agent: 'helper', sessionId: 'monday' })
  expect((await viewOf({ ...recall })).passages[0]).not.toHaveProperty('passage')
})

test('a body without a question is rejected, and places that are none are left out', async () => {
  const { ask, viewOf } = await scene({}, [['a', 'Hi', ['Ok.']]])
  expect((await ask({ places: [] }))?.status).toBe(400)
  const places = [{ sessionId: 'a', turnId: 'b', index: -1 }, { sessionId: 7 }, null]
  expect((await viewOf({ question: 'Hi', places })).passages).toEqual([])
})
