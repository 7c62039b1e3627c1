import { Agent } from '@allium/core'
import { expect, expectTypeOf } from 'vitest'
import { type AlliumMatchers, calledTools, type matchers, scriptedModel } from '../../src/index.ts'
import '../../src/vitest.ts'

const result = await new Agent({ model: scriptedModel([]) }).run('hello')

expect(result).toHaveCalledTool('refund', { amount: expect.any(Number) })
expect(result).not.toHaveCalledTools(['refund'])
expect(result).toHaveEnded('blocked', /limit/)
expectTypeOf(expect(result).resolves.toHaveEnded).returns.resolves.toBeVoid()

// @ts-expect-error: no run ends so
expect(result).toHaveEnded('done')
// @ts-expect-error: a list of names
expect(result).toHaveCalledTools('refund')
// @ts-expect-error: arguments are an object
expect(result).toHaveCalledTool('refund', 900)
// @ts-expect-error: a run has no calls before it is awaited
calledTools(new Agent({ model: scriptedModel([]) }).run('hello'))

expectTypeOf<keyof AlliumMatchers>().toEqualTypeOf<keyof typeof matchers>()
