import { equalJson } from '@allium/core/internal'
import type { RecordedAnswer } from './answer.ts'

/** What happened to the recorded answers. */
export interface AnswersSummary {
  /** Answers in the file that were used. */
  readonly used: number
  /** Answers in the file that no request asked for. Saving removes them, unless `prune` is false. */
  readonly stale: number
  /** Model calls that were recorded. */
  readonly recorded: number
  /** Model calls without a recorded answer. Their trials are invalid. */
  readonly missing: number
  /** Answers that were too large to record. */
  readonly tooLarge: number
}

/** Where an answer belongs in an evaluation. */
export interface AnswerPlace {
  readonly request: string
  readonly repeat: number
  readonly case: string
  readonly trial: number
  /** Sorts the calls of a trial, those of its scorers last. */
  readonly at: number
}

export type NewAnswer = AnswerPlace & Pick<RecordedAnswer, 'model' | 'chunks' | 'error'>

/** The answers of a file, and those that were recorded since. */
export class RecordedAnswers {
  readonly #stored = new Map<string, RecordedAnswer>()
  readonly #used = new Set<string>()
  readonly #added: NewAnswer[] = []
  missing = 0
  tooLarge = 0

  constructor(answers: readonly RecordedAnswer[]) {
    for (const answer of answers) this.#stored.set(keyOf(answer), answer)
  }

  /** Returns the answer that was recorded for exactly this request, in this trial. */
  find({ request, repeat, case: id, trial }: AnswerPlace): RecordedAnswer | undefined {
    for (const place of [{ case: id, trial }, { trial }, { case: id }, {}]) {
      const key = keyOf({ request, repeat, ...place })
      const answer = this.#stored.get(key)
      if (answer === undefined || (answer.trial === undefined && trial >= (answer.trials ?? 0))) continue
      this.#used.add(key)
      return answer
    }
    return undefined
  }

  add(answer: NewAnswer): void {
    this.#added.push(answer)
  }

  summary(): AnswersSummary {
    const used = this.#used.size
    const { missing, tooLarge } = this
    return { used, stale: this.#stored.size - used, recorded: this.#added.length, missing, tooLarge }
  }

  /** Returns the lines of the file, in the order of the cases. @param prune whether answers that were not used are left out */
  lines(caseIds: readonly string[], prune: boolean): RecordedAnswer[] {
    const position = new Map(caseIds.map((id, index) => [id, index]))
    const added = [...this.#added].sort(
      (a, b) => (position.get(a.case) ?? 0) - (position.get(b.case) ?? 0) || a.trial - b.trial || a.at - b.at,
    )
    const groups = new Map<string, NewAnswer[]>()
    for (const answer of added) {
      const key = requestOf(answer)
      groups.set(key, [...(groups.get(key) ?? []), answer])
    }
    const kept = [...this.#stored].filter(([key, one]) => this.#used.has(key) || !(prune || groups.has(requestOf(one))))
    const shared = new Set(kept.map(([, one]) => requestOf(one)))
    const recorded = [...groups].flatMap(([key, group]) => (shared.has(key) ? group.map(exactLine) : linesOf(group)))
    return [...kept.map(([, answer]) => answer), ...recorded]
  }
}

/** Returns the lines for equal requests: one if all got the same answer, else one per trial, else one per case and trial. */
function linesOf(answers: readonly NewAnswer[]): RecordedAnswer[] {
  const [first] = answers as [NewAnswer]
  const trials = Math.max(...answers.map(({ trial }) => trial)) + 1
  if (answers.every((one) => isSame(one, first))) return [lineOf(first, { trials })]
  const byTrial = new Map<number, NewAnswer>()
  for (const one of answers) if (!byTrial.has(one.trial)) byTrial.set(one.trial, one)
  if (answers.every((one) => isSame(one, byTrial.get(one.trial) as NewAnswer)))
    return [...byTrial.values()].map((one) => lineOf(one, { trial: one.trial }))
  return answers.map(exactLine)
}

/** A line for one case and trial only. */
function exactLine(answer: NewAnswer): RecordedAnswer {
  return lineOf(answer, { case: answer.case, trial: answer.trial })
}

function isSame(a: NewAnswer, b: NewAnswer): boolean {
  return equalJson(a.chunks, b.chunks) && equalJson(a.error, b.error)
}

function lineOf(
  { request, repeat, model, chunks, error }: NewAnswer,
  place: Pick<RecordedAnswer, 'case' | 'trial' | 'trials'>,
): RecordedAnswer {
  return { request, repeat, ...place, model, chunks, ...(error !== undefined && { error }) }
}

function requestOf({ request, repeat }: Pick<RecordedAnswer, 'request' | 'repeat'>): string {
  return keyOf({ request, repeat })
}

function keyOf({ request, repeat, trial, case: id }: Pick<RecordedAnswer, 'request' | 'repeat' | 'trial' | 'case'>) {
  return JSON.stringify([request, repeat, trial ?? null, id ?? null])
}
