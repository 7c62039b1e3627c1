import type { AgentClient, FeedbackInput, FeedbackView } from '@allium/server/client'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'

/** The user's own feedback on the answers of a session. */
export interface SessionFeedback {
  /** Returns the feedback on an answer by the id of its message; undefined if there is none. */
  of(messageId: string): Pick<FeedbackView, 'score' | 'comment' | 'tags'> | undefined
  /** Shows the feedback at once, and sends it. If that fails, shows the earlier one again. Returns whether it was stored. */
  give(messageId: string, feedback: FeedbackInput): Promise<boolean>
  /** Removes the feedback on an answer, in the same way. */
  remove(messageId: string): Promise<boolean>
  /** Why the last request failed; undefined after one that succeeded. */
  readonly error: unknown
}

type Given = Pick<FeedbackView, 'score' | 'comment' | 'tags'>
type ById = ReadonlyMap<string, Given>

/**
 * Returns the user's feedback on the answers of a session, and sends changes of it. Reads it once for each session. The server needs the option
 * `feedback`.
 *
 * @example
 * const feedback = useFeedback({ client, sessionId: 'chat-1' })
 * return <Feedback message={message} feedback={feedback} />
 */
export function useFeedback({
  client,
  sessionId,
}: {
  client: Pick<AgentClient, 'session'>
  sessionId: string
}): SessionFeedback {
  const session = useMemo(() => client.session(sessionId), [client, sessionId])
  const [given, setGiven] = useState<ById>(new Map())
  const [error, setError] = useState<unknown>()
  const latest = useRef(given)
  latest.current = given

  useEffect(() => {
    let isOpen = true
    setGiven(new Map())
    session.feedback().then(
      // What the user gives meanwhile is newer than the list.
      (all) => isOpen && setGiven((now) => new Map([...byId(all), ...now])),
      // A session without messages has no feedback. Other errors show up again when the user gives feedback.
      () => {},
    )
    return () => {
      isOpen = false
    }
  }, [session])

  const change = useCallback(async (id: string, next: Given | undefined, send: () => Promise<unknown>) => {
    const before = latest.current.get(id)
    setGiven((now) => withEntry(now, id, next))
    try {
      await send()
      setError(undefined)
      return true
    } catch (failure) {
      setGiven((now) => (now.get(id) === next ? withEntry(now, id, before) : now))
      setError(failure)
      return false
    }
  }, [])

  return useMemo(
    () => ({
      of: (id) => given.get(id),
      give: (id, input) => change(id, toGiven(input), () => session.giveFeedback(id, input)),
      remove: (id) => change(id, undefined, () => session.removeFeedback(id)),
      error,
    }),
    [given, error, session, change],
  )
}

/** An answer has the id of its run while it streams, and later one that depends on its place. */
function byId(all: readonly FeedbackView[]): [string, Given][] {
  return all.flatMap((one) => [one.turnId, one.messageId].flatMap((id): [string, Given][] => (id ? [[id, one]] : [])))
}

function toGiven({ score, ...rest }: FeedbackInput): Given {
  return { ...rest, score: score === 'up' ? 1 : score === 'down' ? 0 : score }
}

function withEntry(given: ById, id: string, next: Given | undefined): ById {
  const changed = new Map(given)
  if (next === undefined) changed.delete(id)
  else changed.set(id, next)
  return changed
}
