import { expect, it } from 'vitest'
import * as guard from '../../src/guard.ts'
import type { Session } from '../../src/index.ts'
import { type Parts, recordedKind, replayedKind } from './world.ts'

const twice = async (session: Session) => {
  await session.run('a')
  await session.run('b')
}
const rate = (limit: number) => (): Parts => ({ layers: [guard.rateLimit({ limit, window: 'day' })] })
const budget = (limit: number) => (): Parts => ({
  layers: [guard.budget({ limit, unit: 'tokens', per: 'user' })],
})

it('shows a raised rate limit: the layer is not answered by its old decision', async () => {
  const { kept, turns } = await recordedKind({ steps: ['one', 'never'], parts: rate(1), play: twice })
  expect(turns[1]?.recorded.result.status).toBe('blocked')
  expect(await replayedKind(kept, turns, { parts: rate(1)() })).toMatchObject({ same: 2 })
  const report = await replayedKind(kept, turns, { parts: rate(100)() })
  expect(report).toMatchObject({ same: 1, different: 1, byLayer: { 'guard:rateLimit': 1 } })
  expect(report.turns[0]?.differences).toMatchObject([
    { kind: 'diverged', step: 'model 0', replayed: 'this model call has no recorded answer' },
    { kind: 'decision', layer: 'guard:rateLimit', field: 'blocked', recorded: expect.stringContaining('is reached') },
  ])
})

it('shows a lowered rate limit from the count that was recorded before each turn', async () => {
  const { kept, turns } = await recordedKind({ steps: ['one', 'two'], parts: rate(5), play: twice })
  expect(turns.map(({ recorded }) => recorded.postings?.[0]?.balance?.reserved)).toEqual([0, 1])
  const report = await replayedKind(kept, turns, { parts: rate(1)() })
  expect(report).toMatchObject({ same: 1, different: 1, byLayer: { 'guard:rateLimit': 1 }, notes: {} })
  expect(report.turns[0]?.turnId).toBe(turns[1]?.turnId)
  expect(await replayedKind(kept, turns, { parts: rate(2)() })).toMatchObject({ same: 2 })
})

it('says of a changed rate limit with its own counter that its count is not recorded', async () => {
  const free = { consume: async () => {}, reward: async () => {} }
  const counted = (limit: number) => (): Parts => ({
    layers: [guard.rateLimit({ limit, window: 'day', store: () => free })],
  })
  const { kept, turns } = await recordedKind({ steps: ['one', 'two'], parts: counted(5), play: twice })
  expect(turns.map(({ recorded }) => recorded.postings)).toEqual([undefined, undefined])
  const { notes } = await replayedKind(kept, turns, { parts: rate(1)() })
  expect(notes).toEqual({ 'an account of the ledger has no recorded balance, so it counted from 0': 2 })
})

it('shows a budget that earlier turns used up as recorded, and another limit from the recorded balance', async () => {
  const steps = [{ text: 'one', usage: { inputTokens: 900, outputTokens: 200 } }, 'never']
  const { kept, turns } = await recordedKind({ steps, parts: budget(1_500), play: twice })
  const [, second] = turns
  expect(second?.recorded.result.status).toBe('blocked')
  expect(await replayedKind(kept, turns.slice(1), { parts: budget(1_500)() })).toMatchObject({ same: 1 })
  const lower = await replayedKind(kept, turns.slice(1), { parts: budget(1_400)() })
  expect(lower.turns[0]?.differences).toContainEqual(
    expect.objectContaining({ field: 'reason', replayed: expect.stringContaining('1100 tokens spent') }),
  )
  const higher = await replayedKind(kept, turns.slice(1), { parts: budget(5_000)() })
  expect(higher.turns[0]?.differences[0]).toMatchObject({ kind: 'diverged', step: 'model 0' })
})
