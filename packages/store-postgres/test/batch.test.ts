import { AlliumError } from '@allium/core'
import { describe, expect, it } from 'vitest'
import { batchByKey } from '../src/database/batch.ts'

/** Statements that end when they are told to. */
function statements(fails: (asks: readonly number[]) => unknown = () => undefined) {
  const sent: number[][] = []
  const ask = batchByKey<number, string>(async (asks) => {
    sent.push([...asks])
    await null
    const error = fails(asks)
    if (error !== undefined) throw error
    return asks.map((one) => `answer ${one}`)
  })
  return { sent, ask }
}

describe('asks of one place', () => {
  it('go alone where nobody else asks, and together where a statement is under way, in their order', async () => {
    const { sent, ask } = statements()
    const answers = await Promise.all([1, 2, 3].map((one) => ask('acme', one)))
    expect(answers).toEqual(['answer 1', 'answer 2', 'answer 3'])
    await ask('acme', 4)
    expect(sent).toEqual([[1], [2, 3], [4]])
  })

  it('wait for no other place', async () => {
    const { sent, ask } = statements()
    await Promise.all([ask('acme', 1), ask('globex', 2)])
    expect(sent).toEqual([[1], [2]])
  })

  it('are a hundred at the most', async () => {
    const { sent, ask } = statements()
    await Promise.all(Array.from({ length: 202 }, (_, i) => ask('acme', i)))
    expect(sent.map(({ length }) => length)).toEqual([1, 100, 100, 1])
  })

  it('do not fail for what is wrong with another one', async () => {
    const { sent, ask } = statements((asks) => (asks.includes(2) ? new Error('out of range') : undefined))
    const answers = await Promise.allSettled([1, 2, 3].map((one) => ask('acme', one)))
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(sent).toEqual([[1], [2, 3], [2], [3]])
  })

  it('fail together where the database is gone', async () => {
    const gone = new AlliumError('store.unavailable', 'The database could not be asked.')
    const { sent, ask } = statements((asks) => (asks.length > 1 ? gone : undefined))
    const answers = await Promise.allSettled([1, 2, 3].map((one) => ask('acme', one)))
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect(sent).toHaveLength(2)
  })
})
