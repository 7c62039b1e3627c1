import type { ExplainOptions } from '@allium/memory/explain'
import { fieldsOf, listOf } from '../host/evals/fields.ts'

/** A question of a turn, and what was recalled for it, as the page knows them from the events of the turn. */
export interface RecallRequest {
  readonly tenant: string
  readonly owner: string
  /** The layer that recalled. */
  readonly layer: string
  readonly question: string
  readonly places: ExplainOptions['places']
}

const maxBody = 1_000_000
const maxName = 2_048

/** Reads the body of a request; undefined if it is invalid. */
export async function recallRequest(request: Request): Promise<RecallRequest | undefined> {
  const fields = fieldsOf(await jsonOf(request))
  const [tenant, owner, layer] = [fields.tenant, fields.owner, fields.layer].map((value) => nameOf(value))
  const { question } = fields
  if (tenant === undefined || owner === undefined || layer === undefined || typeof question !== 'string')
    return undefined
  const places = listOf(fields.places, 100).flatMap(({ sessionId: session, turnId: turn, index }) => {
    const [sessionId, turnId] = [nameOf(session), nameOf(turn)]
    const isWhole = typeof index === 'number' && Number.isSafeInteger(index) && index >= 0
    return sessionId !== undefined && turnId !== undefined && isWhole ? [{ sessionId, turnId, index }] : []
  })
  return { tenant, owner, layer, question, places }
}

async function jsonOf(request: Request): Promise<unknown> {
  if (!(Number(request.headers.get('content-length') ?? Number.NaN) <= maxBody)) return undefined
  return request.json().catch(() => undefined)
}

function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= maxName ? value : undefined
}
