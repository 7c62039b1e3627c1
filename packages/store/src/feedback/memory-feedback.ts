import { AlliumError, type SessionKey, type Writer } from '@allium/core'
import type {
  EventScope,
  Feedback,
  FeedbackKey,
  FeedbackQuery,
  FeedbackStore,
  FeedbackSummary,
  Page,
  RunKey,
} from '@allium/store'
import { pageOf, sortable } from '../memory-store/page.ts'
import { nameOfParts, RunRows } from '../memory-store/run-rows.ts'
import {
  checkFeedback,
  checkFeedbackKey,
  checkFeedbackQuery,
  checkRuns,
  checkSummaryOptions,
} from './check-feedback.ts'

type Row = Omit<Feedback, 'run'> & RunKey & { readonly n: number }

/** The feedback of the memory store. */
export class MemoryFeedback implements FeedbackStore {
  readonly sealed = false
  readonly #rows = new RunRows<Row>(nameOf)
  #lastN = 0

  async put(feedback: Feedback, writer?: Writer): Promise<void> {
    const { run, ...checked } = checkFeedback(feedback)
    const row = { ...checked, ...run }
    const asAuthor = { ...run.key, owner: row.by }
    if (writer !== undefined && [run.key, asAuthor].some((key) => this.#rows.isErasedSince(key, writer.since)))
      throw erasedMeanwhile(run)
    this.#rows.set({ ...row, n: this.#rows.get(nameOf(row))?.n ?? ++this.#lastN })
  }

  async get(of: FeedbackKey): Promise<Feedback | undefined> {
    const { run, by } = checkFeedbackKey(of)
    const row = this.#rows.get(nameOf({ ...run, by }))
    return row && feedbackOf(row)
  }

  async delete(of: FeedbackKey): Promise<boolean> {
    const { run, by } = checkFeedbackKey(of)
    const name = nameOf({ ...run, by })
    return this.#rows.delete((row) => nameOf(row) === name) > 0
  }

  async list(query: FeedbackQuery): Promise<Page<Feedback>> {
    const { isAscending, cursor, limit, since, until, minScore, maxScore, ...of } = checkFeedbackQuery(query)
    const found = [...this.#rows.values()].filter((row) => {
      const names = { ...row.key, by: row.by } as Record<string, string>
      const isSelected = Object.entries(of).every(([name, value]) => value === undefined || names[name] === value)
      return isSelected && row.at >= since && row.at < until && row.score >= minScore && row.score <= maxScore
    })
    const sign = isAscending ? 1 : -1
    const page = pageOf(found, ({ at, n }) => [sign * at, sortable(sign * n)], { cursor, limit })
    return { ...page, items: page.items.map(feedbackOf) }
  }

  async ofRuns(runs: readonly RunKey[]): Promise<Feedback[]> {
    const rows = [...this.#rows.values()].toSorted((a, b) => a.at - b.at || a.n - b.n)
    return checkRuns(runs).flatMap(({ key, turnId }) => {
      const run = nameOfParts(key, turnId)
      return rows.filter((row) => nameOfParts(row.key, row.turnId) === run).map(feedbackOf)
    })
  }

  async summary(of: { tenant?: string | undefined; since?: number | undefined } = {}): Promise<FeedbackSummary[]> {
    const { tenant, since } = checkSummaryOptions(of)
    const groups = new Map<string, Row[]>()
    for (const row of this.#rows.values()) {
      if (row.at < since || (tenant ?? row.key.tenant) !== row.key.tenant) continue
      const name = JSON.stringify([row.key.tenant, row.key.agent])
      groups.set(name, [...(groups.get(name) ?? []), row])
    }
    const summaries = [...groups.values()].map(summaryOf)
    const by = (name: 'tenant' | 'agent') => (a: FeedbackSummary, b: FeedbackSummary) =>
      a[name] < b[name] ? -1 : Number(a[name] > b[name])
    return summaries.toSorted((a, b) => by('tenant')(a, b) || by('agent')(a, b))
  }

  /** Deletes the feedback on a session, or that on the sessions of an owner and by that person, or that of a tenant. */
  erase(scope: EventScope, at: number): void {
    this.#rows.erase(scope, at)
    if (!('sessionId' in scope) && scope.owner !== undefined)
      this.#rows.delete(({ key, by }) => key.tenant === scope.tenant && by === scope.owner)
  }

  /** Deletes the feedback on a session. */
  forget(key: SessionKey): void {
    this.#rows.forget(key)
  }

  /** Moves the feedback on a session whose agent was renamed. */
  move(from: SessionKey, to: SessionKey): void {
    this.#rows.move(from, to)
  }
}

function summaryOf(rows: readonly Row[]): FeedbackSummary {
  const { tenant, agent } = (rows[0] as Row).key
  const count = rows.length
  return {
    ...{ tenant, agent, count },
    up: rows.filter(({ score }) => score > 0.5).length,
    down: rows.filter(({ score }) => score < 0.5).length,
    mean: rows.reduce((sum, { score }) => sum + score, 0) / count,
    latestAt: Math.max(...rows.map(({ at }) => at)),
  }
}

function feedbackOf({ key, turnId, n: _, tags, ...rest }: Row): Feedback {
  return { run: { key: { ...key }, turnId }, ...rest, ...(tags !== undefined && { tags: [...tags] }) }
}

function nameOf({ key, turnId, by }: RunKey & { by: string }): string {
  return nameOfParts(key, turnId, by)
}

function erasedMeanwhile({ turnId }: RunKey): AlliumError {
  return new AlliumError(
    'store.fenced',
    `The data of the owner, the session or the person was erased meanwhile. The feedback on the turn "${turnId}" was not stored.`,
  )
}
