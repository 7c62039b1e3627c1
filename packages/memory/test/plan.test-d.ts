import { Agent } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { expectTypeOf } from 'vitest'
import { type PlanItem, type Planned, plan } from '../src/index.ts'

const { state } = await new Agent({ model: scriptedModel([]) }).use(plan()).run('hello')
expectTypeOf(state['memory:plan']).toEqualTypeOf<PlanItem[]>()
// @ts-expect-error: 'pending', 'in_progress' or 'completed'
state['memory:plan'].push({ text: 'Book', status: 'done' })

// The key is the layer's name.
const named = await new Agent({ model: scriptedModel([]) }).use(plan({ as: 'todo' })).run('hello')
expectTypeOf(named.state.todo).toEqualTypeOf<PlanItem[]>()

// Its event is typed by name.
new Agent({ model: scriptedModel([]) }).on('memory:plan', (event) => expectTypeOf(event).toEqualTypeOf<Planned>())
