import { Agent, type Usage } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { expectTypeOf } from 'vitest'
import { type ModelUsage, usage } from '../src/index.ts'

const { state } = await new Agent({ model: scriptedModel([]) }).use(usage()).run('hello')
expectTypeOf(state['observe:usage:tokens']).toEqualTypeOf<Usage>()
expectTypeOf(state['observe:usage:cost']).toEqualTypeOf<number>()
expectTypeOf(state['observe:usage:unpriced']).toEqualTypeOf<number>()
expectTypeOf(state['observe:usage:models']).toEqualTypeOf<Readonly<Record<string, ModelUsage>>>()
// @ts-expect-error: nobody declares it
state['observe:usage:calls']

const renamed = await new Agent({ model: scriptedModel([]) }).use(usage({ as: 'meter' })).run('hello')
expectTypeOf(renamed.state['meter:cost']).toEqualTypeOf<number>()
