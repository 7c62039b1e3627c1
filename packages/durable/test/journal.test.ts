import { sqlite } from '@allium/store-sqlite'
import { journalConformance } from '@allium/testing'
import { describe, it } from 'vitest'
import { storedJournal } from './stored-journal.ts'

journalConformance({
  name: 'the journal of a durable run on SQLite',
  describe,
  it,
  async makeJournal() {
    const { runs, sessions, close } = sqlite(':memory:')
    return { ...(await storedJournal({ runs, sessions })), close }
  },
})
