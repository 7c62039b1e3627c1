import type { RunKey } from '../event-log.ts'
import type { Feedback, FeedbackStore } from '../feedback-store.ts'
import { maxRunsOfFeedback } from './check-feedback.ts'

/**
 * Returns the tags that a dataset case gets for the feedback on its run: `feedback:up` if a score is above 0.5, `feedback:down` if one is
 * below it, `feedback:comment` if there is a comment, and each tag that a person chose, after `feedback:tag:`.
 */
export function feedbackTags(feedback: readonly Pick<Feedback, 'score' | 'comment' | 'tags'>[]): string[] {
  const tags = feedback.flatMap(({ score, comment, tags: chosen = [] }) => [
    ...(score > 0.5 ? ['feedback:up'] : []),
    ...(score < 0.5 ? ['feedback:down'] : []),
    ...(comment === undefined ? [] : ['feedback:comment']),
    ...chosen.map((tag) => `feedback:tag:${tag}`),
  ])
  return [...new Set(tags)].toSorted()
}

/**
 * Returns the tags of each run that has feedback, in the order of the runs, for example to mark the cases of an eval dataset.
 *
 * @example
 * const tags = await feedbackTagsOf(store.feedback, items)
 * const bad = tags.filter((one) => one.tags.includes('feedback:down'))
 */
export async function feedbackTagsOf(
  store: Pick<FeedbackStore, 'ofRuns'>,
  runs: readonly RunKey[],
): Promise<{ readonly run: RunKey; readonly tags: readonly string[] }[]> {
  const byRun = new Map<string, Feedback[]>()
  for (let from = 0; from < runs.length; from += maxRunsOfFeedback)
    for (const one of await store.ofRuns(runs.slice(from, from + maxRunsOfFeedback))) {
      const name = nameOf(one.run)
      byRun.set(name, [...(byRun.get(name) ?? []), one])
    }
  return runs.flatMap((run) => {
    const feedback = byRun.get(nameOf(run))
    return feedback === undefined ? [] : [{ run, tags: feedbackTags(feedback) }]
  })
}

function nameOf({ key: { tenant, owner, agent, sessionId }, turnId }: RunKey): string {
  return JSON.stringify([tenant, owner, agent, sessionId, turnId])
}
