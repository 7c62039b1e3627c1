import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'
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

/** Turns up to which earlier ones are loaded to find one. */
const maxTurns = 2_000

/** Scrolls the chat to a turn once, loading earlier turns until it is there. */
export function useScrollTo(target: ChatTarget | undefined, { turns, loaded, box, isAtEnd, setBack }: Scrolled): void {
  const at = turns.findIndex(({ turnId }) => turnId === target?.turnId)
  useEffect(() => {
    if (target === undefined) return
    if (at < 0) {
      if (loaded.conversation.before !== undefined && turns.length < maxTurns) void loaded.loadEarlier()
      return
    }
    isAtEnd.current = false
    setBack(Math.max(0, countRows(turns.slice(at)) - 50))
    // After the rows of the turn have been rendered.
    setTimeout(() => box.current?.querySelector('.found')?.scrollIntoView())
  }, [target, at < 0 && turns.length])
}
