import { hideSecrets } from '@allium/shared/detect'
import type { AgentFacts } from '../messages.ts'

/** The state of the agent's process. */
type AgentStatus =
  | { readonly state: 'loading' }
  | ({ readonly state: 'ready' } & AgentFacts)
  | { readonly state: 'failed'; readonly error: string; readonly isServing: boolean }

/** An entry for the page: a line of the agent's output, or a new state of its process. */
export type JournalEntry =
  | { readonly type: 'line'; readonly at: number; readonly stream: 'stdout' | 'stderr'; readonly text: string }
  | ({ readonly type: 'status'; readonly at: number } & AgentStatus)

/** An entry that pages receive only while they are open: a report of evals was written or deleted. */
type PageEntry = JournalEntry | { readonly type: 'evals'; readonly at: number }

/** The last entries, for pages that open later. */
export interface Journal {
  line(stream: 'stdout' | 'stderr', text: string): void
  status(status: AgentStatus): void
  /** Tells the open pages that the reports of evals have changed. */
  evals(): void
  /** Calls `fn` with the stored entries, then with each new one. Returns a function that unsubscribes. */
  follow(fn: (entries: readonly PageEntry[]) => void): () => void
}

const maxEntries = 5_000
const maxLine = 10_000

/** Keeps the output of the agent's process, without credentials, and the state of the process. */
export function createJournal(onEntry: (entry: JournalEntry) => void): Journal {
  const entries: JournalEntry[] = []
  const followers = new Set<(entries: readonly PageEntry[]) => void>()
  const add = (entry: JournalEntry) => {
    entries.push(entry)
    if (entries.length > maxEntries) entries.splice(0, entries.length - maxEntries)
    onEntry(entry)
    for (const follower of followers) follower([entry])
  }
  return {
    line(stream, text) {
      add({ type: 'line', at: Date.now(), stream, text: hideSecrets(text.slice(0, maxLine), '[hidden]') })
    },
    status(status) {
      const hidden = status.state === 'failed' ? { ...status, error: hideSecrets(status.error, '[hidden]') } : status
      add({ type: 'status', at: Date.now(), ...hidden })
    },
    evals() {
      for (const follower of followers) follower([{ type: 'evals', at: Date.now() }])
    },
    follow(fn) {
      fn(entries)
      followers.add(fn)
      return () => followers.delete(fn)
    },
  }
}
