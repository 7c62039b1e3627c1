import { AlliumError, type Input } from '@allium/core'
import { checkOptions, isRecord, type KeysOf } from '@allium/core/internal'

/** An input for the agent, and what its answer should be. */
export interface EvalCase<E = unknown> {
  /** Identifies the case in reports and in the baseline. @default its position, `case-1` for the first */
  id?: string | undefined
  /** A text, or messages: earlier messages of a conversation, then the one to answer. */
  input: Input
  /** The expected answer, for scorers. */
  expected?: E | undefined
  /** Words to select cases by. */
  tags?: readonly string[] | undefined
  /**
   * The name of a group of cases that are alike, such as those made from one template. The group then counts as one case, because
   * such cases succeed or fail together. @default a group of its own
   */
  group?: string | undefined
  /** The acting principal of the run. */
  principal?: unknown
  /** The application's context of the run. */
  context?: unknown
}

/** A checked case, with its id. */
export interface NamedCase<E = unknown> extends EvalCase<E> {
  readonly id: string
}

export const maxCases = 10_000

/** Every key that a case may have. */
const caseKeys: KeysOf<EvalCase> = {
  id: true,
  input: true,
  expected: true,
  tags: true,
  group: true,
  principal: true,
  context: true,
}

/** Checks cases and gives each one its id. @throws AlliumError `options.invalid` */
export function nameCases<E>(cases: readonly EvalCase<E>[]): NamedCase<E>[] {
  if (!Array.isArray(cases) || cases.length === 0)
    throw invalid('evaluate() needs cases: a list of { input }, or the result of readCases().')
  if (cases.length > maxCases)
    throw invalid(`evaluate() takes up to ${maxCases} cases, not ${cases.length}. Evaluate them in parts.`)
  const places = new Map<string, number>()
  return cases.map((one, index) => {
    const place = `The case at position ${index + 1}`
    checkCase(one, place)
    const { id = `case-${index + 1}` } = one
    const other = places.get(id)
    if (other !== undefined) throw invalid(`${place} has the id "${id}" of the case at position ${other + 1}.`)
    places.set(id, index)
    return { ...(one as EvalCase<E>), id }
  })
}

/** @param place the subject of the error message @throws AlliumError `options.invalid` */
export function checkCase(value: unknown, place: string): asserts value is EvalCase {
  if (!isRecord(value)) throw invalid(`${place} is not an object with the field "input".`)
  checkOptions(value, caseKeys, place, 'options.invalid', {
    'prompt question messages': 'It is called input.',
    'output answer target reference': 'It is called expected.',
  })
  const { id, input, tags, group } = value
  if (typeof input !== 'string' && (typeof input !== 'object' || input === null))
    throw invalid(`${place} has no input. Add the field "input": a text, or messages.`)
  for (const [name, text] of Object.entries({ id, group }))
    if (text !== undefined && (typeof text !== 'string' || text === '' || text.length > maxName))
      throw invalid(`${place} needs "${name}" to be a text of 1 to ${maxName} characters.`)
  if (tags !== undefined && !(Array.isArray(tags) && tags.every((tag) => typeof tag === 'string')))
    throw invalid(`${place} needs "tags" to be a list of texts.`)
}

const maxName = 200

function invalid(message: string): AlliumError {
  return new AlliumError('options.invalid', message)
}
