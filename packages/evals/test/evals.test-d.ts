import { Agent } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { expectTypeOf, test } from 'vitest'
import { evaluate, score } from '../src/index.ts'

const agent = new Agent({ model: scriptedModel([]) })

test('a scorer of your own knows the type of what its cases expect, without type arguments', () => {
  void evaluate({
    agent,
    cases: [{ input: 'Hi', expected: { amount: 1 } }],
    scorers: {
      amount: ({ expected }) => {
        expectTypeOf(expected).toEqualTypeOf<{ amount: number } | undefined>()
        return expected?.amount === 1
      },
      polite: score.contains('please'),
    },
    gates: { amount: { min: 0.9 }, polite: [{ min: 0.5 }, { maxDrop: 0.1 }] },
  })
})

test('a gate of an unknown scorer is a mistake', () => {
  void evaluate({
    agent,
    cases: [{ input: 'Hi' }],
    scorers: { polite: score.contains('please') },
    // @ts-expect-error: there is no such scorer
    gates: { right: { min: 0.9 } },
  })
})
