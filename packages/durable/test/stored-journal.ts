import { systemClock } from '@allium/core'
import type { RunStore, SessionStore } from '@allium/store'
import { RunJournal } from '../src/journal/run-journal.ts'
import { RunState } from '../src/journal/run-state.ts'

const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }

/** The journal of a new run in a store. `reopen` reads the recorded steps, as the next process does. */
export async function storedJournal({ runs, sessions }: { runs: RunStore; sessions: SessionStore }) {
  const host = { runs, sessions, clock: systemClock, lease: 600_000 }
  const request = { run: 'r', key, agent: 'a', version: '', task: {} }
  const { run, lease } = await runs.add(request, { claim: 600_000 })
  if (lease === undefined) throw new Error('The session is free.')
  const reopen = async () => {
    const state = new RunState(host, { run, lease }, { onStop() {}, onDiverged: async () => {} })
    return new RunJournal(host, state, { steps: await runs.steps(lease, 'r') })
  }
  return { journal: await reopen(), reopen }
}
