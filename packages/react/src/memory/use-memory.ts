import type { MemoryClient } from '@allium/server/memory-client'
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { MemoryStore, type MemoryStoreState } from './memory-store.ts'

/** What is remembered of the person, with functions that change it. Each returns whether it succeeded. */
export interface RememberedMemory
  extends MemoryStoreState,
    Pick<MemoryStore, 'reload' | 'setOn' | 'edit' | 'deleteBlock' | 'deleteConversation' | 'deleteAll' | 'loadMore'> {}

/**
 * Returns what an agent remembers of the signed-in person, for a page on which they see, correct and delete it, or switch it off. The server
 * needs the option `memory`.
 *
 * @example
 * const { memory, setOn, edit } = useMemory({ client })
 */
export function useMemory({ client }: { client: MemoryClient }): RememberedMemory {
  const store = useMemo(() => new MemoryStore(client), [client])
  useEffect(() => void store.reload(), [store])
  const state = useSyncExternalStore(store.subscribe, store.getSnapshot, store.getSnapshot)
  const { reload, setOn, edit, deleteBlock, deleteConversation, deleteAll, loadMore } = store
  return { ...state, reload, setOn, edit, deleteBlock, deleteConversation, deleteAll, loadMore }
}
