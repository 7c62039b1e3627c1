import { digestOf, type Input, isAlliumError, type Message } from '@allium/core'
import { mapTexts } from '@allium/shared/recording'
import { checkCase, type EvalCase } from '../cases/case.ts'
import type { CaseSelection, RunOfSession, StoredCases } from './case-selection.ts'

/** A stored turn that may become a case. */
export interface StoredTurnOfCase extends RunOfSession {
  /** The conversation before the turn. */
  readonly history: readonly Readonly<Message>[]
  readonly input: unknown
  readonly answer: string | undefined
  readonly principal?: unknown
  readonly context?: unknown
}

/** The largest case, in characters of its JSON. */
const maxCase = 200_000
/** At most this many runs are looked up at a time. */
const page = 500

/** Makes cases of stored turns. They come from a store, so none is trusted to be whole. */
export class CaseCollector {
  readonly #selection: CaseSelection
  readonly #turns: StoredTurnOfCase[] = []
  readonly #skipped = new Map<string, number>()

  constructor(selection: CaseSelection) {
    this.#selection = selection
  }

  add(turn: StoredTurnOfCase): void {
    if (turn.input === undefined) this.skip('the turn has no input of its own')
    else this.#turns.push(turn)
  }

  skip(reason: string, count = 1): void {
    this.#skipped.set(reason, (this.#skipped.get(reason) ?? 0) + count)
  }

  /** Returns the cases of the newest turns, oldest first. */
  async result(): Promise<StoredCases> {
    const { limit = 200 } = this.#selection
    const seen = new Set<string>()
    const cases: EvalCase<string>[] = []
    for (let end = this.#turns.length; end > 0 && cases.length < limit; end -= page) {
      const turns = this.#turns.slice(Math.max(0, end - page), end).reverse()
      const ratings = await this.#ratingsOf(turns)
      for (const turn of turns) {
        if (cases.length === limit) break
        const one = await this.#caseOf(turn, ratings.get(runKey(turn)), seen)
        if (typeof one === 'string') this.skip(one)
        else cases.push(one)
      }
    }
    return { cases: cases.reverse(), skipped: Object.fromEntries(this.#skipped) }
  }

  async #ratingsOf(turns: readonly StoredTurnOfCase[]): Promise<Map<string, Rating>> {
    const given = (await this.#selection.feedback?.ofRuns(turns.map(({ key, turnId }) => ({ key, turnId })))) ?? []
    const ratings = new Map<string, Rating>()
    for (const { run, score, tags = [] } of given) {
      const before = ratings.get(runKey(run))
      ratings.set(runKey(run), { scores: [...(before?.scores ?? []), score], tags: [...(before?.tags ?? []), ...tags] })
    }
    return ratings
  }

  /** Returns the case of a turn, or why there is none. */
  async #caseOf(
    turn: StoredTurnOfCase,
    rating: Rating | undefined,
    seen: Set<string>,
  ): Promise<EvalCase<string> | string> {
    const { scrub = (text) => text, expected, rated } = this.#selection
    const judgement = judgementOf(rating)
    if (rated !== undefined && judgement !== rated) return `it was not rated ${rated}`
    const { key, turnId, history, answer, principal, context } = turn
    const earlier = history.filter(({ role }) => role !== 'system')
    const input = mapTexts(
      (earlier.length === 0 ? turn.input : [...earlier, ...messagesOf(turn.input)]) as Input,
      scrub,
    )
    const digest = await digestOf(input)
    if (seen.has(digest)) return 'another turn has the same input'
    const tags = [...new Set([...(rating?.tags ?? []), ...(judgement === undefined ? [] : [`rated-${judgement}`])])]
    const one: EvalCase<string> = {
      id: (await digestOf({ key, turnId })).slice(0, 16),
      input,
      ...(expected === 'answer' && judgement !== 'bad' && answer && { expected: scrub(answer) }),
      ...(tags.length > 0 && { tags: mapTexts(tags, scrub) }),
      group: (await digestOf(key)).slice(0, 16),
      ...(principal !== undefined && { principal: mapTexts(principal, scrub) }),
      ...(context !== undefined && { context: mapTexts(context, scrub) }),
    }
    if (JSON.stringify(one).length > maxCase) return `it has over ${maxCase} characters`
    try {
      checkCase(one, 'The turn')
    } catch (error) {
      if (isAlliumError(error)) return 'its input is damaged'
      throw error
    }
    seen.add(digest)
    return one
  }
}

interface Rating {
  readonly scores: readonly number[]
  readonly tags: readonly string[]
}

/** Bad if anybody rated the turn badly. */
function judgementOf(rating: Rating | undefined): 'good' | 'bad' | undefined {
  if (rating === undefined) return undefined
  const worst = Math.min(...rating.scores)
  if (worst === 0.5) return undefined
  return worst < 0.5 ? 'bad' : 'good'
}

function messagesOf(input: unknown): readonly unknown[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : [input].flat()
}

function runKey({ key: { tenant, owner, agent, sessionId }, turnId }: RunOfSession): string {
  return JSON.stringify([tenant, owner, agent, sessionId, turnId])
}
