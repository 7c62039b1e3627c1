import { Agent } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { expectTypeOf } from 'vitest'
import { type AnswerCut, maxWords } from '../src/index.ts'

const agent = new Agent({ model: scriptedModel([]) })
  .use(maxWords({ words: 3 }))
  .use(maxWords({ words: 9, as: 'mine' }))
const { state } = await agent.run('hello')

// The state is typed, under the name of the layer.
expectTypeOf(state['acme:maxWords:cut']).toEqualTypeOf<number>()
expectTypeOf(state['mine:cut']).toEqualTypeOf<number>()
// @ts-expect-error: no layer declares this key
state['acme:maxWords:cuts']

// So is the event.
agent.on('acme:maxWords', (event) => expectTypeOf(event).toEqualTypeOf<AnswerCut>())

// @ts-expect-error: the number of words is required
maxWords({})
// @ts-expect-error: the mistake is spelled out, not ignored
maxWords({ words: 3, markers: '' })
