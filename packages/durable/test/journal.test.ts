import { sqlite } from '@allium/store-sqlite'
import { journalConformance } from '@allium/testing'
import { describe, it } from 'vitest'
import { runJournal } from '../src/index.ts'

const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }
const host = {
  over: () => undefined,
  fenced: () => false,
  ended() {},
  broken: async () => {},
  failed() {},
  insist: (record: () => Promise<void>) => record(),
}

journalConformance({
  name: 'the journal of a durable run on SQLite',
  describe,
  it,
  async makeJournal() {
    const { runs, close } = sqlite(':memory:')
    const { lease } = await runs.add({ run: 'r', key, agent: 'a', version: '', task: {} }, { claim: 60_000 })
    if (lease === undefined) throw new Error('The session is free.')
    const open = async () => runJournal(runs, { run: 'r', lease }, await runs.steps(lease, 'r'), host)
    return { journal: await open(), reopen: open, close }
  },
})
