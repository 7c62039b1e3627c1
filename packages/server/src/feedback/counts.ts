import type { FeedbackEvent } from '@allium/store'

/** Counts changes of feedback in this process, for Prometheus. */
export class FeedbackCounts {
  readonly #counts = new Map<string, number>()

  count({ type, run, feedback }: FeedbackEvent): void {
    const action = type === 'feedback:removed' ? 'removed' : thumbOf(feedback?.score ?? 0.5)
    const labels = `agent=${JSON.stringify(run.key.agent)},feedback="${action}"`
    this.#counts.set(labels, (this.#counts.get(labels) ?? 0) + 1)
  }

  /** Returns the counters in Prometheus' text format. */
  text(): string {
    const lines = [...this.#counts].map(([labels, count]) => `${name}{${labels}} ${count}\n`)
    return `# HELP ${name} Feedback that was given, changed or removed.\n# TYPE ${name} counter\n${lines.join('')}`
  }
}

const name = 'allium_feedback_total'

function thumbOf(score: number): string {
  if (score === 0.5) return 'neutral'
  return score > 0.5 ? 'up' : 'down'
}
