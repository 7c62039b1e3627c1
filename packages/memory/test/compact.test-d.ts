import { Agent } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { expectTypeOf } from 'vitest'
import { type Compacted, type CompactView, compact } from '../src/index.ts'

const agent = new Agent({ model: scriptedModel([]) }).use(compact())
const { state } = await agent.run('hello')

// What was compacted is in the state, under the layer's name.
expectTypeOf(state['memory:compact:view']).toEqualTypeOf<CompactView>()
// @ts-expect-error: no such key
state['memory:compact:summary']

// Its event is typed by name.
agent.on('memory:compact', (event) => expectTypeOf(event).toEqualTypeOf<Compacted>())

// @ts-expect-error: a trigger is an object
compact({ trigger: 1000 })
// @ts-expect-error: 'clear', 'summarise' or 'hybrid'
compact({ strategy: 'forget' })
