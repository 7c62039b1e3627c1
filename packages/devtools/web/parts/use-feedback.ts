import { useEffect, useState } from 'preact/hooks'
import type { FeedbackItem } from '../../src/child/feedback-route.ts'
import { api } from '../store/api.ts'
import type { SessionItem } from '../store/sessions.ts'

/** Loads the feedback of all people on a session when its view opens, and again when `version` changes. */
export function useFeedback(item: SessionItem | undefined, version: unknown): readonly FeedbackItem[] {
  const [loaded, setLoaded] = useState<readonly FeedbackItem[]>([])
  useEffect(() => {
    setLoaded([])
    // That of the agent's own store is content of production, and a look at it would have to be audited.
    if (item === undefined || item.isReadOnly) return
    let isShown = true
    const query = new URLSearchParams({ tenant: item.tenant, owner: item.owner, session: item.id })
    api<{ feedback: FeedbackItem[] }>(`/inspector/feedback?${query}`, undefined).then(
      ({ feedback }) => isShown && setLoaded(feedback),
      () => {},
    )
    return () => {
      isShown = false
    }
  }, [item?.id, item?.owner, item?.tenant, item?.isReadOnly, version])
  return loaded
}

/** Returns the mean score of a turn with the number of people; an empty text without feedback. */
export function feedbackText(feedback: readonly FeedbackItem[], turnId: string | undefined): string {
  const scores = feedback.flatMap((one) => (one.turnId === turnId ? one.score : []))
  if (scores.length === 0) return ''
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length
  return scores.length === 1 ? scoreText(mean) : `${scoreText(mean)} (${scores.length})`
}

/** Thumbs are words, and other scores have two decimals. */
export function scoreText(score: number): string {
  if (score === 1) return 'up'
  return score === 0 ? 'down' : String(Math.round(score * 100) / 100)
}
