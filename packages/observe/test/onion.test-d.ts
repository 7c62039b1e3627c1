import { Agent, type AgentRun } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { expectTypeOf } from 'vitest'
import { console as consoleLayer, type OnionTurn, onion } from '../src/index.ts'

const layers = onion({ maxTurns: 10 })
const agent = new Agent({ model: scriptedModel([]) }).use(layers).use(consoleLayer())

// Neither adds state.
expectTypeOf(agent.run('hello')).toEqualTypeOf<AgentRun<{}>>()
expectTypeOf(layers.timeline('id')).toEqualTypeOf<OnionTurn | undefined>()
expectTypeOf(layers.explain('id')).toEqualTypeOf<string>()

// @ts-expect-error: a number
onion({ maxTurns: 'all' })
// @ts-expect-error: paint gives a text
layers.toText('id', { paint: (_text, kind) => kind.length })
