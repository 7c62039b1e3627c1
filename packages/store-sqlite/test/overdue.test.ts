import { AlliumError } from '@allium/core'
import { expect, it } from 'vitest'
import { type Encryption, sqlite } from '../src/index.ts'
import { fileIn, raw } from './files.ts'

const flip = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 7)
const encrypt: Encryption = {
  seal: flip,
  open(bytes, { tenant }) {
    if (tenant === 'lost') throw new AlliumError('store.sealed', 'The key of the tenant is gone.')
    return flip(bytes)
  },
}

it('finds the overdue calls behind those of any number of runs whose keys are lost', async () => {
  const path = fileIn()
  const { runs, close } = sqlite(path, { encrypt })
  const names = [...Array.from({ length: 30 }, (_, i) => `lost-${i}`), 'here']
  for (const run of names) {
    const key = { tenant: run === 'here' ? 'acme' : 'lost', owner: 'ann', agent: 'agent', sessionId: run }
    await runs.add({ run, key, agent: 'agent', version: '1', task: { input: 'Hi' } })
  }
  raw(path, (db) =>
    db.exec(`insert into pending_calls (tenant, owner, agent, session, call_id, turn_id, name, expires_at, token)
      select tenant, owner, session_agent, session, 'c1', run, 'pay', 1, 'token' from runs`),
  )
  const look = () => runs.expiredCalls({ agents: [{ name: 'agent', version: '1' }], limit: 1 })
  // A look reads 20 pages, here of one run each. The third one finds the end, and the next one begins again.
  const looks = [await look(), await look(), await look(), await look(), await look()]
  expect(looks.map((found) => found.map(({ run }) => run.run))).toEqual([[], ['here'], [], [], ['here']])
  close()
})
