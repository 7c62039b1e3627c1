import { useEffect, useState } from 'react'
import type { Refused } from '../shared/api.ts'
import { retryUntilDone } from '../shared/polling.ts'
import { emptyHistory, loadHistory, textOf } from './history.ts'

/**
 * Returns titles by session id: the first words of each conversation. The page reads each conversation once. The titles
 * are stored nowhere else, so deleting a conversation also deletes its title.
 */
export function useTitles(ids: readonly string[]): ReadonlyMap<string, string> {
  const [titles, set] = useState<ReadonlyMap<string, string>>(new Map())
  const [next] = ids.filter((id) => !titles.has(id))
  useEffect(() => {
    if (next === undefined) return
    return retryUntilDone(async () => {
      const title = await titleOf(next)
      set((all) => new Map(all).set(next, title))
    })
  }, [next])
  return titles
}

/** @throws Refused when the server cannot be reached */
async function titleOf(id: string): Promise<string> {
  const { messages } = await loadHistory(id).catch((error: Refused) => {
    if (error.code === 'network') throw error
    return emptyHistory
  })
  const first = messages.find(({ role }) => role === 'user')
  return (first && firstWords(textOf(first))) || 'Conversation'
}

/** Up to 60 characters, cut between words where possible. */
function firstWords(text: string): string {
  const line = [...text.replace(/\s+/g, ' ').trim()]
  if (line.length <= 60) return line.join('')
  const cut = line.slice(0, 60).join('')
  return `${cut.replace(/ \S*$/, '')}…`
}
