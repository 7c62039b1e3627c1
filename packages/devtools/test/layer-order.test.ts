import { Agent, defineMiddleware } from 'allium'
import { scriptedModel } from 'allium/testing'
import { expect, onTestFinished, test } from 'vitest'
import { holdLayers } from '../src/child/replay/layer-order.ts'

const layer = (name: string) => defineMiddleware({ name, turn: (_, next) => next() })

function held() {
  const holding = holdLayers()
  onTestFinished(() => holding.release())
  return holding
}

const newAgent = () => new Agent({ model: scriptedModel(['Hi.']) }).use([layer('a'), layer('b')]).use(layer('c'))
const namesOf = (agent: Agent) => agent.inspect().layers.map(({ name }) => name)

test.each([
  [{ layer: 'c', to: 'outside', of: 'a' }, ['c', 'a', 'b']],
  [{ layer: 'a', to: 'inside', of: 'b' }, ['b', 'a', 'c']],
  [{ layer: 'a', to: 'inside', of: 'c' }, ['b', 'c', 'a']],
] as const)('moves a layer: %o', (move, names) => {
  const holding = held()
  const [agent, other] = [newAgent(), newAgent()]
  holding.move(agent, { kind: 'move', ...move })
  holding.release()
  expect(namesOf(agent as Agent)).toEqual(names)
  expect(namesOf(other as Agent)).toEqual(['a', 'b', 'c'])
})

test('an agent that is used while its module loads has its layers', async () => {
  held()
  const agent = newAgent()
  expect(namesOf(agent as Agent)).toEqual(['a', 'b', 'c'])
  expect((await agent.run('Hello')).text).toBe('Hi.')
})

test('says which layers can move, and is over after the release', () => {
  const holding = held()
  const agent = newAgent()
  expect(() => holding.move(agent, { kind: 'move', layer: 'x', to: 'inside', of: 'a' })).toThrow(/"x" .*: a, b, c\./)
  holding.release()
  const use = Agent.prototype.use
  expect(namesOf(newAgent().use(layer('d')) as Agent)).toEqual(['a', 'b', 'c', 'd'])
  expect(Agent.prototype.use).toBe(use)
})
