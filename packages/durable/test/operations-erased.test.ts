import { expect, it } from 'vitest'
import { operations } from '../src/operations.ts'
import { idleScene } from './operations-scene.ts'

it('starts no run again whose owner is erased while the audit records the operator', async () => {
  const { store, clock, addFailed } = idleScene()
  await addFailed('run-1')
  const audit = async () => void (await store.sessions.erase({ tenant: 'acme', owner: 'ann' }))
  const ops = operations({ store, clock, audit })
  await expect(ops.startAgain('run-1', { operator: 'sam' })).rejects.toMatchObject({ code: 'session.not_found' })
  expect((await ops.list()).items).toEqual([])
})
