import { manualClock } from '@allium/testing'
import { expect, it } from 'vitest'
import { SyncLevel } from '../src/database/sync-level.ts'

function opened(configured: 'full' | 'normal', isBusy = false) {
  const scripts: string[] = []
  const clock = manualClock()
  const commit = (sync: boolean) => {
    level.begin(sync, (script) => scripts.push(script))
    level.committed()
  }
  const sync = () => {
    scripts.push('sync')
    if (isBusy) throw new Error('The file is busy.')
    commit(true)
  }
  const level = new SyncLevel(configured, sync, clock)
  return { level, commit, scripts, clock }
}

const [toNormal, toFull] = ['normal', 'full'].map((level) => `pragma synchronous = ${level}; begin immediate`)

it('changes the level only if the previous transaction had another one', () => {
  const { commit, scripts } = opened('full')
  for (const sync of [true, false, false, true]) commit(sync)
  expect(scripts).toEqual(['begin immediate', toNormal, 'begin immediate', toFull])
})

it('syncs a commit within a second, unless another one did', async () => {
  const { commit, scripts, clock } = opened('full')
  commit(false)
  commit(true)
  await clock.advance(2000)
  expect(scripts).toEqual([toNormal, toFull])
  commit(false)
  commit(false)
  await clock.advance(1000)
  await clock.advance(5000)
  expect(scripts.slice(2)).toEqual([toNormal, 'begin immediate', 'sync', toFull])
})

it('does not sync after it is closed, nor in a store that never syncs', async () => {
  const [full, normal] = [opened('full'), opened('normal')]
  full.commit(false)
  full.level.close()
  normal.commit(false)
  for (const { clock } of [full, normal]) await clock.advance(5000)
  expect([full.scripts, normal.scripts]).toEqual([[toNormal], ['begin immediate']])
})

it('leaves a file that is busy to a later commit', async () => {
  const { commit, scripts, clock } = opened('full', true)
  commit(false)
  await clock.advance(1000)
  commit(false)
  await clock.advance(1000)
  expect(scripts).toEqual([toNormal, 'sync', 'begin immediate', 'sync'])
})

it('sets the level again after a transaction that could not begin', () => {
  const { level, scripts } = opened('full')
  const fail = () => {
    throw new Error('The file is busy.')
  }
  expect(() => level.begin(false, fail)).toThrow('busy')
  level.begin(true, (script) => scripts.push(script))
  expect(scripts).toEqual([toFull])
})
