import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { countRows } from './chat-rows.ts'
import type { ChatTurn } from './chat-turns.ts'
import type { LoadedConversation } from './use-conversation.ts'

/** A turn to scroll to. */
export interface ChatTarget {
  turnId: string
}

interface Scrolled {
  turns: readonly ChatTurn[]
  loaded: LoadedConversation
  box: RefObject<HTMLElement | null>
  isAtEnd: { current: boolean }
  /** Shows rows further back. */
  setBack(rows: number): void
}

/** Earlier turns that are loaded for one target, at most: 50 turns each. */
const maxLoads = 40

/** Scrolls the chat to a turn once, loading earlier turns until it is there. */
export function useScrollTo(target: ChatTarget | undefined, { turns, loaded, box, isAtEnd, setBack }: Scrolled): void {
  const loads = useRef(0)
  const reached = useRef<ChatTarget | undefined>(undefined)
  useEffect(() => {
    if (target === undefined || target === reached.current) return
    const at = turns.findIndex(({ turnId }) => turnId === target.turnId)
    if (at >= 0) {
      reached.current = target
      loads.current = 0
      isAtEnd.current = false
      setBack(Math.max(0, countRows(turns.slice(at)) - 50))
      // After the rows of the turn have been rendered.
      setTimeout(() => box.current?.querySelector('.found')?.scrollIntoView({ block: 'start' }))
    } else if (loaded.conversation.before !== undefined && loads.current++ < maxLoads) void loaded.loadEarlier()
  }, [target, turns.length])
}
