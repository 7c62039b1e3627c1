/** An entry of the inspector's journal: a line of the agent's output, the state of its process, or a change of the evals' reports. */
export type JournalEntry =
  | { type: 'line'; at: number; stream: 'stdout' | 'stderr'; text: string }
  | { type: 'evals'; at: number }
  | {
      type: 'status'
      at: number
      state: 'loading' | 'ready' | 'failed'
      agent?: string
      principal?: unknown
      readOnly?: { copies: boolean }
      error?: string
      isServing?: boolean
    }

export type LogLine = Extract<JournalEntry, { type: 'line' }>
export type AgentStatus = Omit<Extract<JournalEntry, { type: 'status' }>, 'type'>

/** Follows the journal. The browser connects again by itself, and then gets all entries again. */
export function followJournal(onEntries: (entries: JournalEntry[], isFirst: boolean) => void): void {
  const source = new EventSource('/dev/journal')
  let isFirst = true
  source.onopen = () => {
    isFirst = true
  }
  source.onmessage = ({ data }: MessageEvent<string>) => {
    onEntries(JSON.parse(data) as JournalEntry[], isFirst)
    isFirst = false
  }
}
